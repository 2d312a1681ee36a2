"""The pure core: records, events, ports, the verdict. Imports the standard library only."""
