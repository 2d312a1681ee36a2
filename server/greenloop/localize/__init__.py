"""Fault localisation: the baseline run, the functions and lines that it reaches, and their ranking."""
