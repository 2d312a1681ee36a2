"""Attack programs as data: one module for each kind, read by tests/sandbox/test_attacks.py."""

from . import (
    apart_codec,
    apart_ends,
    apart_equality,
    apart_executions,
    apart_files,
    apart_fresh_fixa,
    apart_lent,
    apart_modules,
    apart_noticing,
    apart_operators,
    apart_same,
    apart_silence,
    apart_state,
    apart_tasks,
    apart_translation,
    cpu,
    crashes,
    fakes_blocks,
    fakes_builtins,
    fakes_doctests,
    fakes_ends,
    fakes_equality,
    fakes_helpers,
    fakes_imports,
    fakes_iteration,
    fakes_marks,
    fakes_measures,
    fakes_patches,
    fakes_plugins,
    fakes_reading,
    fakes_reversals,
    fakes_threads,
    fakes_walks,
    files,
    floods,
    memory,
    network,
    parent,
    persistence,
    processes,
    rights,
)
from .attack import Attack, Fake
from .forgery import Forgery

_WALL = (cpu, memory, processes, parent, network, files, rights, floods, crashes, persistence)
_VERDICT = (
    fakes_ends,
    fakes_threads,
    fakes_marks,
    fakes_patches,
    fakes_plugins,
    fakes_walks,
    fakes_imports,
    fakes_iteration,
    fakes_equality,
    fakes_builtins,
    fakes_reading,
    fakes_blocks,
    fakes_doctests,
    fakes_measures,
    fakes_helpers,
    fakes_reversals,
)
ATTACKS: tuple[Attack, ...] = tuple(attack for family in _WALL for attack in family.ATTACKS)
FAKES: tuple[Fake, ...] = tuple(fake for family in _VERDICT for fake in family.FAKES)

_APART = (
    apart_codec,
    apart_equality,
    apart_executions,
    apart_lent,
    apart_state,
    apart_modules,
    apart_files,
    apart_fresh_fixa,
    apart_ends,
    apart_noticing,
    apart_operators,
    apart_same,
    apart_tasks,
    apart_translation,
    apart_silence,
)
FORGERIES: tuple[Forgery, ...] = tuple(forgery for family in _APART for forgery in family.FORGERIES)
HONEST: tuple[Forgery, ...] = tuple(change for family in _APART for change in family.HONEST)
