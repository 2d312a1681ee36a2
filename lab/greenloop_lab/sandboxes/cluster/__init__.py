"""A cluster of Ray: connecting to it, and running the tests of one run on several of its nodes."""
