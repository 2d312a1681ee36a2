"""Where the fault may be: the baseline run, the functions and lines it reaches, and their ranking."""
