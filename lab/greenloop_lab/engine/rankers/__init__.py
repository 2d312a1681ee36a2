"""Which candidate runs first, where a run takes long; each file is a part."""
