"""Tests of a revision, code of the working tree: does it pass? And past results, run again."""
