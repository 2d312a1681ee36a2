"""What an editor shows while a run goes on; each presenter is a function of the run's events."""
