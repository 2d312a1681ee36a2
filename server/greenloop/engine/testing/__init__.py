"""Tests that are run and explained without a candidate."""
