"""Repairs: changes to which a failure, or the code by itself, points; one file for each family."""
