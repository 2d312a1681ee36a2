"""The pure heart: nouns, events, ports, the loop. Imports the standard library only."""
