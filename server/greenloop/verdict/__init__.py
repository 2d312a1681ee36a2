"""Acceptance of a candidate: proofs in a fresh sandbox, the tamper check, and mutation testing of the tests."""
