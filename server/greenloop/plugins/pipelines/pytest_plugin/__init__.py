"""The pytest plugin: offers to refine what fails, or compares outcomes with the sandbox. It is off unless asked for.

Every session of an environment with greenloop loads this module, so it imports nothing, and registers nothing unless
an option asks for it. The sandbox never loads it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

OFF, ASK, ALL = "off", "ask", "all"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options; `--refine=all` is an option of its own, so that `--refine` never takes the path behind it."""
    group = parser.getgroup("greenloop")
    add = group.addoption
    text = "after the run, offer to refine each failing test with greenloop; asks before anything is written"
    add("--refine", action="store_const", const=ASK, dest="refine", default=None, help=text)
    text = "refine every failing test, within --refine-seconds; asks before anything is written"
    add("--refine=all", action="store_const", const=ALL, dest="refine", help=text)
    text = "switch this off, whatever the configuration says"
    add("--refine=off", action="store_const", const=OFF, dest="refine", help=text)
    text = "seconds for all tests of --refine=all (default: 600)"
    add("--refine-seconds", type=float, default=600.0, metavar="N", help=text)
    text = "after the run, run the same tests in greenloop's sandbox and list the outcomes that differ"
    add("--refine-verify", action="store_true", default=False, help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Registers what was asked for; in a worker of xdist nothing, because the controller sees every report."""
    option = config.option
    wanted = option.refine in (ASK, ALL) or option.refine_verify
    if not wanted or option.refine == OFF or option.collectonly or hasattr(config, "workerinput"):
        return
    from greenloop.plugins.pipelines.pytest_plugin.session import SessionRecorder  # noqa: PLC0415 - only if asked for

    config.pluginmanager.register(SessionRecorder(config), "greenloop-session")
