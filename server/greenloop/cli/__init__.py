"""The command line: reads arguments, shows events, writes files, returns an exit code."""
