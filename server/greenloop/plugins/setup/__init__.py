"""The first steps on a machine: editors and agents are connected, and sandboxes tried."""
