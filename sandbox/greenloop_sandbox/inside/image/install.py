"""Installs wheels, and byte-compiles what every run imports; runs once in a container while an image is made.

A sandbox cannot write byte code (its root is read-only), and `python:3.x-slim` comes without any.
"""

import compileall
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig

BUILD = "/.greenloop/build"  # wheels, and in `pip` the package of pip or its wheel, which runs as it is
PACKAGES = "/.greenloop/packages"
EXCLUDED = re.compile(r"[/\\](test|tests|idlelib|lib2to3|turtledemo|site-packages|dist-packages)[/\\]")

if os.path.isdir(BUILD):
    options = ["--no-index", "--no-deps", "--no-compile", "--no-cache-dir", "--disable-pip-version-check"]
    pip = [sys.executable, [*glob.glob(BUILD + "/pip/*.whl"), BUILD + "/pip"][0] + "/pip", "install", *options]
    environ = dict(os.environ, PIP_BREAK_SYSTEM_PACKAGES="1", PIP_ROOT_USER_ACTION="ignore")
    status = subprocess.call([*pip, *sorted(glob.glob(BUILD + "/*.whl"))], env=environ)
    if status:
        sys.exit(status)
    shutil.rmtree(BUILD)
compileall.compile_dir(sysconfig.get_path("stdlib"), quiet=2, rx=EXCLUDED)
# Packages may hold files that are not valid Python of this version (templates, syntax tests): those stay uncompiled.
compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2)
sys.exit(os.path.isdir(PACKAGES) and not compileall.compile_dir(PACKAGES, quiet=1))
