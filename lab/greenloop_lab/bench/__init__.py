"""The benchmark harness: runs presets as arms over tasks, and computes figures from records only."""
