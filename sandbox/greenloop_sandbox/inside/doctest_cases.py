"""Runs doctest examples as single pytest cases: one for each `>>>`, in order, sharing one namespace.

`doctest:REL/PATH.py::QUALNAME` gives `REL/PATH.py::QUALNAME::doctest-1`, `-2`, ...; with an empty QUALNAME (the
module's own docstring) the ids are `REL/PATH.py::doctest-1`, ...
The docstring is read from the source, so its line numbers are right and decorators, properties and nested functions do
not hide it.
"""

import ast
import doctest
import os
from traceback import format_exception

import pytest
from _pytest import doctest as builtin

PREFIX = "doctest:"


def pytest_argument(selector):
    """The argument given to pytest in place of the selector (without its prefix)."""
    path, _, name = selector.partition("::")
    return path + "::" + PREFIX + name


def plugin(root, selectors, exclusive):
    """Makes a plugin that collects the selectors' examples; `exclusive`: no other collector reads those files."""
    names_by_path = {}
    for selector in selectors:
        path, _, name = selector.partition("::")
        names_by_path.setdefault(os.path.join(root, *path.split("/")), []).append(name)

    class Examples:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_collect_file(self, file_path, parent):
            outcome = yield
            names = names_by_path.get(str(file_path))
            if names is not None:
                file = File.from_parent(parent, path=file_path)
                file.qualnames = names
                outcome.force_result([file] if exclusive else [*outcome.get_result(), file])

    return Examples()


class File(pytest.Module):
    """A Python file, seen as those of its docstrings that were selected.

    A module for pytest, as with its own doctests: fixtures of that scope need one.
    """

    qualnames = ()

    def collect(self):
        tree = ast.parse(self.path.read_bytes(), filename=str(self.path))
        # Imported as pytest imports a test module, with pytest's own message when that fails.
        module = pytest.Module.from_parent(self.parent, path=self.path).obj
        for name in self.qualnames:
            nodeid = self.nodeid + ("::" + name if name else "")
            docstring = Docstring.from_parent(self, name=PREFIX + name, nodeid=nodeid)
            docstring.target = (name, _find_docstring(tree, name), module)
            yield docstring


class Docstring(pytest.Collector):
    """One docstring; its examples share a copy of the module's namespace."""

    target = ("", None, None)

    def collect(self):
        name, docstring, module = self.target
        if docstring is None:
            raise self.CollectError("%s has no docstring named %r." % (self.parent.nodeid, name or "(module)"))
        text, line = docstring
        names = dict(vars(module))
        title = ".".join(part for part in (module.__name__, name) if part)
        for number, example in enumerate(doctest.DocTestParser().get_examples(text, title), 1):
            test = doctest.DocTest([example], {}, title, str(self.path), line - 1, text)
            test.globs = names  # DocTest copies its argument, and the examples must share it
            runner = builtin._get_runner(
                checker=builtin._get_checker(), optionflags=_flags(self.config), continue_on_failure=False
            )
            yield Example.from_parent(self, name="doctest-%d" % number, runner=runner, dtest=test)


class Example(builtin.DoctestItem):
    """One example. It inherits pytest's handling of a doctest's fixtures and namespace."""

    got = ""
    raised = False

    @property
    def line(self):
        return self.dtest.lineno + 1 + self.dtest.examples[0].lineno

    def reportinfo(self):
        return self.path, self.line - 1, self.name

    def runtest(self):
        example = self.dtest.examples[0]
        if example.options.get(doctest.SKIP, bool(self.runner.optionflags & doctest.SKIP)):
            pytest.skip("doctest: +SKIP")
        try:
            self.runner.run(self.dtest, clear_globs=False)
        except doctest.DocTestFailure as failure:
            self.got = failure.got
            raise AssertionError(
                "expected %s, got %s" % (_first_line(example.want), _first_line(failure.got))
            ) from None
        except doctest.UnexpectedException as failure:
            error = failure.exc_info[1]
            self.raised = True
            raise error.with_traceback(failure.exc_info[2]) from error.__cause__

    def repr_failure(self, excinfo):
        example = self.dtest.examples[0]
        head = "%s:%d: example\n    %s\n" % (self.nodeid.partition("::")[0], self.line, example.source.rstrip())
        if not self.raised and isinstance(excinfo.value, AssertionError):
            difference = self.runner._checker.output_difference(example, self.got, self.runner.optionflags)
            return head + difference
        if example.want:
            head += "expected:\n    %s\n" % example.want.rstrip()
        error, traceback = excinfo.value, excinfo.tb
        while traceback is not None and not traceback.tb_frame.f_code.co_filename.startswith("<doctest "):
            traceback = traceback.tb_next
        # From the example's own code on; the frames that run it are of no interest.
        lines = format_exception(type(error), error, traceback.tb_next if traceback is not None else None)
        return head + "raised:\n" + "".join(line for line in lines if not line.startswith("Traceback (most recent"))

    def greenloop_failure(self, error, traceback, relative_path, user_frames):
        """The fields of the phase record that describe a failed example."""
        example = self.dtest.examples[0]
        path = relative_path(str(self.path))
        own_frame = [path, self.line, self.dtest.name]
        if self.raised:
            inner_frames = []
            for file, line, function in user_frames(error, traceback, relative_path):
                if file.startswith("<doctest "):
                    inner_frames.append([path, self.line + max(line, 1) - 1, self.dtest.name])
                elif os.path.basename(file) != "doctest.py" and function != "Example.runtest":
                    inner_frames.append([file, line, function])
            return {
                "frames": inner_frames or [own_frame],
                "expected": example.want.rstrip("\n") or None,
                "observed": None,
            }
        return {"frames": [own_frame], "expected": example.want.rstrip("\n"), "observed": self.got.rstrip("\n")}


def _first_line(text):
    lines = text.strip().splitlines()
    if not lines:
        return "nothing"
    return lines[0] + (" ..." if len(lines) > 1 else "")


def _flags(config):
    """The flags of the project's configuration. Those that only a plugin knows, such as FLOAT_CMP, do not count."""
    known = {**doctest.OPTIONFLAGS_BY_NAME, **builtin._get_flag_lookup()}
    flags = 0
    for name in config.getini("doctest_optionflags"):
        flags |= known.get(name, 0)
    return flags


def _find_docstring(tree, name):
    """Finds a docstring by the qualified name of its module, class or function: (text, its first line), or None."""
    node = tree
    for part in [part for part in name.split(".") if part and part != "<locals>"]:
        definition = None
        for child in _definitions(node):
            if child.name == part:
                definition = child  # the last definition wins, as it does at run time
        if definition is None:
            return None
        node = definition
    body = node.body
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        return body[0].value.value, body[0].value.lineno
    return None


def _definitions(node):
    """Yields the definitions directly in this scope, including those under `if` and `try`."""
    todo = list(ast.iter_child_nodes(node))
    while todo:
        child = todo.pop(0)
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child
        else:
            todo[:0] = ast.iter_child_nodes(child)
