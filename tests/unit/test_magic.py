"""`%load_ext greenloop.magic` loads what plugins register."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from greenloop import magic


def test_the_extension_brings_the_cell_magic_and_takes_it_away():
    shell = InteractiveShell()
    magic.load_ipython_extension(shell)
    assert "refine" in shell.magics_manager.magics["cell"]
    magic.unload_ipython_extension(shell)
    assert "refine" not in shell.magics_manager.magics["cell"]
