"""Slips: changes to which a failure, or the code by itself, points. One file for each family."""
