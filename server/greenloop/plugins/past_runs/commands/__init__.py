"""Commands of the plugin `past_runs`."""
