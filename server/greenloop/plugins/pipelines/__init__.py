"""Pipelines: greenloop in a pytest session, and what it leaves for programs that read results."""
