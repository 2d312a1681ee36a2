"""Related tests: which ones a change can affect, and what their failures say."""
