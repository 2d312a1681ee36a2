"""A pytest that has configured itself before the fork: the worker only loads conftests, collects and runs.

Configuring takes most of a small run's time, and is the same for every run of a session. It leans on pytest's inner
parts, so it is used for the versions it was tried with, only after the host has seen both ways agree on the user's own
code, and never where configuring would import code of the workspace.
"""

import os
import sys

import pytest

VERSIONS = ((8, 0), (10, 0))  # from, below
UNFIT = 98  # exit status: this project's conftests need to be there when pytest reads its options


def prepare(request, parts):
    """(a configured session of this process, "") or (None, why not). `request`: root, scratch and environ of the runs.

    Whatever it has changed in this process when it fails must not matter to the caller, who starts another one.
    """
    version = tuple(int(part) for part in pytest.__version__.split(".")[:2] if part.isdigit())
    if not VERSIONS[0] <= version < VERSIONS[1]:
        return None, "pytest %s was never tried with it" % pytest.__version__
    root, folder = request["root"], parts["worker"].scratch_folder(request["scratch"])
    opened, path = _descriptors(), list(sys.path)
    parts["worker"].surroundings(root, folder, request["environ"])
    parts["worker"].streams()
    try:
        session = Session(os.path.realpath(root), folder, parts)
        session.path = list(sys.path)
    except BaseException as error:  # pytest says many things by raising
        return None, "%s: %s" % (type(error).__name__, str(error)[:300])
    finally:
        sys.path[:] = path
        os.chdir("/")
    session.fds = _descriptors() - opened
    return session, ""


class Session:
    """What a worker goes on with. `fds`: descriptors that belong to it and must stay open; `path`: its import path."""

    fds = frozenset()
    path = ()

    def __init__(self, root, folder, parts):
        from _pytest.config import PytestPluginManager, _prepareconfig

        self._late = late = []
        self._load = PytestPluginManager._set_initial_conftests

        def put_off(_manager, **arguments):
            late.append(arguments)

        PytestPluginManager._set_initial_conftests = put_off
        try:
            self.config = config = _prepareconfig(parts["options"].arguments(root, folder))
        finally:
            PytestPluginManager._set_initial_conftests = self._load
        if len(late) != 1 or not config.args:
            raise RuntimeError("pytest has not looked for conftests as it was expected to")
        self._capture = config.pluginmanager.getplugin("capturemanager")
        self._capture.stop_global_capturing()
        config._do_configure()
        self._session = pytest.Session.from_config(config)
        config.hook.pytest_sessionstart(session=self._session)
        self._known = config.pluginmanager.get_plugins()
        self._options = len(_options(config))

    def run(self, arguments, plugins, starter):
        """In the worker: what is left of `pytest.main`. Returns pytest's exit status, or `UNFIT`."""
        from _pytest.config import UsageError

        config = self.config
        os.environ["PYTEST_VERSION"] = pytest.__version__
        sys.path[:] = self.path
        self._renew_faulthandler()
        known = self._late[0]
        if arguments:
            self._ask_for(arguments)
            known = dict(known, args=list(arguments))
        for plugin in plugins:
            config.pluginmanager.register(plugin)
        self._capture.start_global_capturing()
        try:
            self._load(config.pluginmanager, **known)
        except Exception as error:  # a broken conftest ends pytest before there is a session
            starter.tell(error)
            return 4
        finally:
            self._capture.suspend_global_capture()
        if len(_options(config)) != self._options:
            return UNFIT
        self._open_again()
        try:
            return int(config.hook.pytest_cmdline_main(config=config))
        except UsageError as error:
            for line in error.args:
                sys.stderr.write("ERROR: %s\n" % line)
            return 4
        finally:
            config._ensure_unconfigure()

    def _ask_for(self, arguments):
        config = self.config
        config.args[:] = arguments
        config.option.file_or_dir = list(arguments)
        config.known_args_namespace.file_or_dir = list(arguments)
        if hasattr(config, "args_source"):
            config.args_source = config.ArgsSource.ARGS

    def _open_again(self):
        """What pytest does first in a session was done before the fork, for all but the plugins that came since."""
        config, opened = self.config, self._session
        config._do_configure = lambda: None  # conftests were configured when they were registered
        pytest.Session.from_config = lambda _config: opened
        late = config.pluginmanager.subset_hook_caller("pytest_sessionstart", self._known)
        config.hook.pytest_sessionstart = late

    def _renew_faulthandler(self):
        """It writes to a copy of the descriptor that was standard error before the fork."""
        import faulthandler

        from _pytest import faulthandler as plugin

        key = getattr(plugin, "fault_handler_stderr_fd_key", None)
        if key is not None and key in self.config.stash:
            os.dup2(2, self.config.stash[key])
            faulthandler.enable(file=self.config.stash[key])


def _options(config):
    parser = config._parser
    return [option for group in {parser._anonymous, *parser._groups} for option in group.options]


def _descriptors():
    try:
        return frozenset(int(name) for name in os.listdir("/proc/self/fd"))
    except OSError:
        return frozenset()
