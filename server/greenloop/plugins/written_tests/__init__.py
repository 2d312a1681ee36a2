"""Writes generated tests into the project, where the setting `spec.write` asks for it."""
