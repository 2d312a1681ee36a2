"""Open texts, their files on disk, and locations in them."""
