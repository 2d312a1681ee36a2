"""Acceptance of a candidate: proofs in a fresh sandbox, and mutation testing of the tests."""
