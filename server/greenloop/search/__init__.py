"""What to try next: `plan(attempts) -> Sequence[Draft]`, pure; empty means stalled. One file a strategy."""
