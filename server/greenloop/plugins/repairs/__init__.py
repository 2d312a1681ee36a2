"""Repairs: changes to which a failure, or the code alone, points; one file for each family."""
