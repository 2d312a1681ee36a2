"""Formats of exported records, one file each: `rows(run)` yields the rows of a run, `ROW` is their record."""
