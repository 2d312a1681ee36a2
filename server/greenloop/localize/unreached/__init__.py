"""Failures of tests that reach no function of the user's: why that is, and what to change first."""
