"""Puts a run into words: attempts, steps, outcomes, tests; for every face, as plain text and Markdown.

It must not know where a text is shown: the caller makes control characters harmless.
"""
