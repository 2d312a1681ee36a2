"""Feedback of published systems, mostly with a critic model; `describe` as in the folder above."""
