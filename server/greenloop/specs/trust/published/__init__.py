"""Trust rules of published systems; `rule` as in the folder above."""
