"""Presenters of runs and tests in the editor; each is a function of the run's events."""
