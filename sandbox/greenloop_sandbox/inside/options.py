"""Builds pytest's arguments: the options added to the project's own configuration."""

import importlib.util
import os
import re

_DJANGO_SETTINGS = re.compile(r"""["']DJANGO_SETTINGS_MODULE["']\s*,\s*["']([\w.]+)["']""")


def pytest_arguments(root, scratch, start="", find=importlib.util.find_spec):
    """Options that keep the project's configuration but undo whatever would reach outside or run tests elsewhere."""
    configuration = _configuration_text(os.path.join(root, start))
    args = [
        "--rootdir=" + root,
        "--continue-on-collection-errors",
        "--color=no",
        "--tb=short",
        "--maxfail=0",
        "--basetemp=" + os.path.join(scratch, "pytest"),
    ]
    if any(
        option in configuration
        for option in ("--lf", "--ff", "--last-failed", "--failed-first", "--nf", "--sw", "--step", "--cache")
    ):
        # Without the cache plugin these options would be unknown; an empty cache makes them do nothing.
        args += ["-o", "cache_dir=" + os.path.join(scratch, "cache")]
    else:
        args += ["-p", "no:cacheprovider"]
    neutralised = (
        ("xdist", "no:xdist", ["-n0"]),
        ("pytest_cov", "no:pytest_cov", ["--no-cov"]),
        ("pytest_rerunfailures", "no:rerunfailures", ["--reruns=0"]),
        (
            "pytest_randomly",
            "no:randomly",
            ["-p", "no:randomly"] if "--randomly" not in configuration else ["--randomly-dont-reorganize"],
        ),
        (
            "pytest_random_order",
            "no:random_order",
            ["--random-order-bucket=none"] if "--random-order" in configuration else [],
        ),
        ("pytest_benchmark", "no:benchmark", ["--benchmark-disable"]),
        (
            "pytest_html",
            "no:html",
            ["--html=" + os.path.join(scratch, "report.html")] if "--html" in configuration else [],
        ),
        # What greenloop adds to a session must not happen in one that it has started itself.
        ("greenloop", "no:greenloop", ["--refine=off"] if "--refine" in configuration else ["-p", "no:greenloop"]),
    )
    # pytest then loads only plugins that the configuration names; options of other plugins would be unknown.
    only_named = "PYTEST_DISABLE_PLUGIN_AUTOLOAD" in os.environ or "--disable-plugin-autoload" in configuration
    for module, disabling, options in neutralised:
        if only_named and module not in configuration:
            continue
        # A plugin may be switched off that is not there. Of greenloop in a checkout pytest sees a plugin that it cannot
        # import here.
        is_here = options[:1] == ["-p"] or find(module) is not None
        if options and disabling not in configuration and is_here:
            args += options
    if "python_files" not in configuration and django_settings(os.path.join(root, start), find):
        args += ["-o", "python_files=test*.py"]  # as Django's own runner finds them
    if "junit" in configuration:
        args.append("--junitxml=" + os.path.join(scratch, "junit.xml"))
    if "log_file" in configuration or "--log-file" in configuration:
        args.append("--log-file=" + os.devnull)
    return args


def _configuration_text(root):
    """The text of every file that may configure pytest here: enough to see whether an option is mentioned."""
    texts = []
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"):
        try:
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as stream:
                texts.append(stream.read(1 << 20))
        except OSError:
            continue
    return "\n".join(texts)


def configures_pytest(root):
    text = _configuration_text(root)
    return any(section in text for section in ("[pytest]", "[tool:pytest]", "[tool.pytest"))


def django_settings(root, find=importlib.util.find_spec):
    """The settings that a Django project's `manage.py` names; "" where pytest-django is there, or no Django."""
    try:
        with open(os.path.join(root, "manage.py"), encoding="utf-8", errors="replace") as stream:
            found = _DJANGO_SETTINGS.search(stream.read(1 << 20))
    except OSError:
        return ""
    if find("pytest_django") or not find("django"):
        return ""
    return os.environ.get("DJANGO_SETTINGS_MODULE") or (found[1] if found else "")


def can_rerun():
    return any(importlib.util.find_spec(name) is not None for name in ("pytest_rerunfailures", "flaky"))
