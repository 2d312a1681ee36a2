"""Checks candidates without running them."""
