"""Records which files of the workspace each case reads, and which of its modules asks for them.

`open` is replaced where Python code looks it up: a hook of the interpreter's audit would slow down every traced call.
"""

import builtins
import functools
import io
import os
import sys

import pytest

MAX_FILES = 300  # of one case
CODE = (".py", ".pyc", ".pyi", ".so", ".ipynb")


def plugin(root, send, excluded):
    """Makes the plugin that sends an `opened` record after each case, and one for what is read around the cases."""
    opened = _Opened(root, excluded)
    builtins.open = io.open = opened.wrap(io.open)

    def send_opened(case):
        if opened.pairs:
            send({"kind": "opened", "id": case, "opened": [list(each) for each in sorted(opened.pairs)[:MAX_FILES]]})
        opened.pairs.clear()

    class OpenedFiles:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item):
            send_opened("")
            yield
            send_opened(item.nodeid)

        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionfinish(self):
            send_opened("")

    return OpenedFiles()


class _Opened:
    """The pairs (file, module that asks for it) since the last record."""

    def __init__(self, root, excluded):
        self._prefix, self._excluded, self.pairs = root + os.sep, excluded, set()

    def wrap(self, original):
        @functools.wraps(original)
        def open_file(file, mode="r", *arguments, **options):
            __tracebackhide__ = True
            if isinstance(mode, str) and not set(mode) & set("wax"):
                try:
                    self._note(file, sys._getframe(1))
                except Exception:
                    pass  # what is no path is the caller's fault, which `open` itself reports
            return original(file, mode, *arguments, **options)

        return open_file

    def _note(self, file, frame):
        path = None if isinstance(file, int) else self._relative(os.path.abspath(os.fsdecode(file)))
        if path is None or path.endswith(CODE):
            return
        while frame is not None:
            module = self._relative(frame.f_code.co_filename)
            if module is not None:
                self.pairs.add((path, module))
                return
            frame = frame.f_back

    def _relative(self, path):
        if not path.startswith(self._prefix):
            return None
        relative = path[len(self._prefix) :].replace(os.sep, "/")
        return None if any(part in self._excluded for part in relative.split("/")) else relative
