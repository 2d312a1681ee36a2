"""What a run does beside its baseline, and with the baseline of the request before."""
