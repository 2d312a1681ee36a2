"""Results of past runs: verified again here, or exported and verified on another machine."""
