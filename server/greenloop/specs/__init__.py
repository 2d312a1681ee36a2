"""Specifications: sources of cases, trust in generated tests, checks that run on the host."""
