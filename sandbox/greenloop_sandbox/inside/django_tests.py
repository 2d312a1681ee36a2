"""Runs the tests of a Django project as `manage.py test` does, where the project has no pytest-django."""

import os

import pytest


class DjangoTests:
    """The plugin. `database_error`: why no test databases could be made; tests that need one fail with it."""

    def __init__(self, settings):
        os.environ["DJANGO_SETTINGS_MODULE"] = settings
        self.database_error = None

    def pytest_load_initial_conftests(self):
        """Loads the applications on pytest's import path, before conftests and tests import models."""
        from django.apps import apps

        if not apps.ready:
            __import__("django").setup()

    pytest_configure = pytest_load_initial_conftests  # a session that was prepared is past the first

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self):
        """Lets no class be skipped yet: Django asks the database whether to, which is not made."""
        from django.test.testcases import CheckCondition

        ask = CheckCondition.__get__
        CheckCondition.__get__ = lambda *_arguments: False
        yield
        CheckCondition.__get__ = ask

    def pytest_collection_modifyitems(self, items):
        """Makes Django's own order: tests that need a clean database come first, since others leave theirs behind."""
        from django.test import SimpleTestCase, TestCase

        def rank(item):
            kind = getattr(item, "cls", None) or object
            return -issubclass(kind, SimpleTestCase) - issubclass(kind, TestCase)

        def is_at_home(item):
            kind, module = getattr(item, "cls", None), getattr(item, "module", None)
            return kind is None or module is None or kind.__module__ == module.__name__

        # A class that other test files import runs once, where it is defined.
        at_home = {(item.cls, item.name) for item in items if getattr(item, "cls", None) and is_at_home(item)}
        items[:] = [item for item in items if is_at_home(item) or (item.cls, item.name) not in at_home]
        items.sort(key=rank)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session):
        """Makes the test databases that the collected tests name, and removes them afterwards."""
        from django.conf import settings
        from django.test.utils import get_runner

        runner = get_runner(settings)(verbosity=0, interactive=False)
        runner.setup_test_environment()
        made = []
        try:
            made = runner.setup_databases(aliases={name: False for item in session.items for name in _databases(item)})
        except Exception as error:
            self.database_error = error
        yield
        runner.teardown_databases(made)
        runner.teardown_test_environment()

    def pytest_runtest_setup(self, item):
        if self.database_error is not None and _databases(item):
            raise self.database_error


def _databases(item):
    from django.db import connections
    from django.test import SimpleTestCase

    kind = getattr(item, "cls", None) or object
    names = kind.databases if issubclass(kind, SimpleTestCase) else ()
    return connections if names == "__all__" else names
