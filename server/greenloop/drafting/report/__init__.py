"""The report of a failure for a capable model: what a senior engineer would put into one."""
