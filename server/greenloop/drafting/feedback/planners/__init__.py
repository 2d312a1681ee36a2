"""Parts that ask a planner before any code is written, one file each; `describe` as in the folder above."""
