"""Search strategies of published systems, for presets of their names; `plan` as in the folder above."""
