"""Feedback parts, one file each: `async describe(problem, attempts, tools) -> FeedbackNote`."""
