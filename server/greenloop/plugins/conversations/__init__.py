"""Conversations with capable models: a full report of the failure, looks at the project, edits of any file."""
