"""How pytest is started: the options that stand beside the project's own configuration."""

import importlib.util
import os


def arguments(root, folder):
    """Options that keep the project's own configuration and take back what would reach outside or run elsewhere."""
    settings = _configuration(root)
    args = [
        "--rootdir=" + root,
        "--continue-on-collection-errors",
        "--color=no",
        "--tb=short",
        "--maxfail=0",
        "--basetemp=" + os.path.join(folder, "pytest"),
    ]
    if any(
        option in settings
        for option in ("--lf", "--ff", "--last-failed", "--failed-first", "--nf", "--sw", "--step", "--cache")
    ):
        # Without its plugin those options would be unknown; an empty cache makes them do nothing.
        args += ["-o", "cache_dir=" + os.path.join(folder, "cache")]
    else:
        args += ["-p", "no:cacheprovider"]
    neutral = (
        ("xdist", "no:xdist", ["-n0"]),
        ("pytest_cov", "no:pytest_cov", ["--no-cov"]),
        ("pytest_rerunfailures", "no:rerunfailures", ["--reruns=0"]),
        (
            "pytest_randomly",
            "no:randomly",
            ["-p", "no:randomly"] if "--randomly" not in settings else ["--randomly-dont-reorganize"],
        ),
        (
            "pytest_random_order",
            "no:random_order",
            ["--random-order-bucket=none"] if "--random-order" in settings else [],
        ),
        ("pytest_benchmark", "no:benchmark", ["--benchmark-disable"]),
        ("pytest_html", "no:html", ["--html=" + os.path.join(folder, "report.html")] if "--html" in settings else []),
    )
    # pytest then loads the plugins that the configuration names, and options of the others would be unknown to it.
    named = "PYTEST_DISABLE_PLUGIN_AUTOLOAD" in os.environ or "--disable-plugin-autoload" in settings
    for module, off, options in neutral:
        if named and module not in settings:
            continue
        if options and off not in settings and importlib.util.find_spec(module) is not None:
            args += options
    if "junit" in settings:
        args.append("--junitxml=" + os.path.join(folder, "junit.xml"))
    if "log_file" in settings or "--log-file" in settings:
        args.append("--log-file=" + os.devnull)
    return args


def _configuration(root):
    """The text of whatever may configure pytest here: good enough to see whether an option is mentioned."""
    texts = []
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"):
        try:
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as stream:
                texts.append(stream.read(1 << 20))
        except OSError:
            continue
    return "\n".join(texts)


def reruns():
    return any(importlib.util.find_spec(name) is not None for name in ("pytest_rerunfailures", "flaky"))
