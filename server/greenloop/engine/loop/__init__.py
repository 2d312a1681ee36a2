"""The refinement loop, and what a round of it does."""
