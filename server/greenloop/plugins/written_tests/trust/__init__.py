"""Rules for whom to believe where designed tests and candidates disagree; one file for each."""
