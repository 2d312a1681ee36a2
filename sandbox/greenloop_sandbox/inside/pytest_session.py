"""Configures a pytest session before the fork; the worker then loads conftests, collects and runs.

Configuring takes most of a small run's time and is the same for every run. It relies on pytest's internals, so it is
used only with the versions it was tried with, only after the host has seen both ways agree on the user's own code, and
never where configuring would import code of the workspace.
"""

import os
import sys

import pytest

SUPPORTED_VERSIONS = ((8, 0), (10, 0))  # at least, below
# Exit status: this project's conftests add options, so pytest must load them before it configures.
CONFTEST_OPTIONS_STATUS = 98
# Of every prepared session. A run without it keeps them too: its log handlers would close what has their numbers then.
held_descriptors = set()


def prepare(request, siblings):
    """Configures a session: (the session, "") or (None, why not). `request` has the runs' root, scratch and environ.

    When it fails this process may be left changed; the caller must start another one.
    """
    version = tuple(int(part) for part in pytest.__version__.split(".")[:2] if part.isdigit())
    if not SUPPORTED_VERSIONS[0] <= version < SUPPORTED_VERSIONS[1]:
        return None, "pytest %s was never tried with it" % pytest.__version__
    root, scratch = request["root"], siblings["worker"].scratch_folder(request["scratch"])
    descriptors_before, path = _open_descriptors(), list(sys.path)
    siblings["worker"].enter_workspace(root, request["start"], scratch, request["environ"])
    siblings["worker"].reopen_streams()
    try:
        arguments = siblings["options"].pytest_arguments(os.path.realpath(root), scratch, request["start"])
        session = PreparedSession(arguments)
        session.path = list(sys.path)
    except BaseException as error:  # pytest reports many problems by raising
        return None, "%s: %s" % (type(error).__name__, str(error)[:300])
    finally:
        sys.path[:] = path
        os.chdir("/")
    held_descriptors.update(_open_descriptors() - descriptors_before)
    return session, ""


class PreparedSession:
    """A configured pytest session. `path` is its import path."""

    path = ()

    def __init__(self, arguments):
        from _pytest.config import PytestPluginManager, _prepareconfig

        self._deferred = deferred = []
        self._load_conftests = PytestPluginManager._set_initial_conftests

        def defer(_manager, **arguments):
            deferred.append(arguments)

        PytestPluginManager._set_initial_conftests = defer
        try:
            self.config = config = _prepareconfig(arguments)
        finally:
            PytestPluginManager._set_initial_conftests = self._load_conftests
        if len(deferred) != 1 or not config.args:
            raise RuntimeError("pytest has not looked for conftests as it was expected to")
        self._capture = config.pluginmanager.getplugin("capturemanager")
        self._capture.stop_global_capturing()
        config._do_configure()
        self._session = pytest.Session.from_config(config)
        config.hook.pytest_sessionstart(session=self._session)
        self._plugins_before = config.pluginmanager.get_plugins()
        self._option_count = len(_registered_options(config))

    def run(self, arguments, plugins, session_reporter):
        """In the worker: the rest of `pytest.main`. Returns pytest's exit status, or `CONFTEST_OPTIONS_STATUS`."""
        from _pytest.config import UsageError

        config = self.config
        os.environ["PYTEST_VERSION"] = pytest.__version__
        sys.path[:] = self.path
        self._renew_faulthandler()
        conftest_arguments = self._deferred[0]
        if arguments:
            self._set_arguments(arguments)
            conftest_arguments = dict(conftest_arguments, args=list(arguments))
        self._capture.start_global_capturing()
        try:
            for plugin in plugins:
                config.pluginmanager.register(plugin)
            self._load_conftests(config.pluginmanager, **conftest_arguments)
        except Exception as error:  # a broken conftest, or settings of Django, end pytest before there is a session
            session_reporter.report_conftest_error(error)
            return 4
        finally:
            self._capture.suspend_global_capture()
        if len(_registered_options(config)) != self._option_count:
            return CONFTEST_OPTIONS_STATUS
        self._reuse_session()
        try:
            return int(config.hook.pytest_cmdline_main(config=config))
        except UsageError as error:
            for line in error.args:
                sys.stderr.write("ERROR: %s\n" % line)
            return 4
        finally:
            config._ensure_unconfigure()

    def _set_arguments(self, arguments):
        config = self.config
        config.args[:] = arguments
        config.option.file_or_dir = list(arguments)
        config.known_args_namespace.file_or_dir = list(arguments)
        if hasattr(config, "args_source"):
            config.args_source = config.ArgsSource.ARGS

    def _reuse_session(self):
        """Skips the session's start, which was done before the fork, for all but the plugins registered since."""
        config, session = self.config, self._session
        config._do_configure = lambda: None  # conftests were configured when they were registered
        pytest.Session.from_config = lambda _config: session
        later_plugins_hook = config.pluginmanager.subset_hook_caller("pytest_sessionstart", self._plugins_before)
        config.hook.pytest_sessionstart = later_plugins_hook

    def _renew_faulthandler(self):
        """Points the faulthandler at this process's stderr; it writes to a copy of the one from before the fork."""
        import faulthandler

        from _pytest import faulthandler as plugin

        key = getattr(plugin, "fault_handler_stderr_fd_key", None)
        if key is not None and key in self.config.stash:
            os.dup2(2, self.config.stash[key])
            faulthandler.enable(file=self.config.stash[key])


def _registered_options(config):
    parser = config._parser
    return [option for group in {parser._anonymous, *parser._groups} for option in group.options]


def _open_descriptors():
    """Returns the numbers of all but the one with which they are listed, which the next file that is opened gets."""
    folder = "/proc/self/fd"
    names = os.listdir(folder) if os.path.isdir(folder) else ()
    return frozenset(int(name) for name in names if os.path.lexists(os.path.join(folder, name)))
