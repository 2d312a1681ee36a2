"""Slips: changes to which a failure, or the code by itself, points. One file each, in the order of `SLIP_MAKERS`."""
