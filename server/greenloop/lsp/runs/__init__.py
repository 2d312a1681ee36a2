"""Refinements in progress, and how their results are applied, confirmed and restored."""
