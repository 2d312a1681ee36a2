"""Rules of published systems for tests that only have a vote; each file is a part."""
