"""Verification of the working tree's code by a revision's tests, and replay of past results."""
