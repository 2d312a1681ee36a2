"""What to try next: `plan(problem, attempts) -> Sequence[Draft]`, pure; empty means stalled. One file a strategy."""
