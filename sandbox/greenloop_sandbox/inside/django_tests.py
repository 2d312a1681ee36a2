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

    def pytest_collection_modifyitems(self, items):
        """Tests that need a clean database come first, as in Django's own order: others leave theirs behind."""
        from django.test import SimpleTestCase, TestCase

        def rank(item):
            kind = getattr(item, "cls", None)
            if kind is None or not issubclass(kind, SimpleTestCase):
                return 2
            return 0 if issubclass(kind, TestCase) else 1

        items.sort(key=rank)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session):
        """Makes the test databases that the collected tests name, and removes them afterwards."""
        from django.conf import settings
        from django.test.utils import get_runner

        runner = get_runner(settings)(verbosity=0, interactive=False)
        runner.setup_test_environment()
        kinds = {item.cls for item in session.items if getattr(item, "cls", None) is not None}
        names = {name: False for kind in kinds for name in _databases(kind)}
        made = None
        try:
            made = runner.setup_databases(aliases=names) if names else None
        except Exception as error:
            self.database_error = error
        yield
        if made is not None:
            runner.teardown_databases(made)
        runner.teardown_test_environment()

    def pytest_runtest_setup(self, item):
        if self.database_error is not None and getattr(item, "cls", None) is not None and _databases(item.cls):
            raise self.database_error


def _databases(kind):
    from django.db import connections
    from django.test import TransactionTestCase

    if not issubclass(kind, TransactionTestCase):
        return ()
    return connections if kind.databases == "__all__" else kind.databases
