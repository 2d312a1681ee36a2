"""Models of this plugin, each a file with `create`."""
