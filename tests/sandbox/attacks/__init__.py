"""Attack programs as data: one module for each family, read by tests/sandbox/test_attacks.py."""

from . import (
    cpu,
    crashes,
    fakes_endings,
    fakes_patches,
    fakes_values,
    files,
    floods,
    memory,
    network,
    parent,
    persistence,
    processes,
    rights,
)
from .nouns import Attack, Fake

ATTACKS: tuple[Attack, ...] = tuple(
    attack
    for family in (cpu, memory, processes, parent, network, files, rights, floods, crashes, persistence)
    for attack in family.ATTACKS
)
FAKES: tuple[Fake, ...] = (*fakes_endings.FAKES, *fakes_patches.FAKES, *fakes_values.FAKES)
