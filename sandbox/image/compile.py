"""Runs once in a container while an image is made: byte-compiles what every run imports.

A sandbox cannot write byte code (its root is read-only), and `python:3.x-slim` comes without any.
"""

import compileall
import re
import sys
import sysconfig

LEFT_OUT = re.compile(r"[/\\](test|tests|idlelib|lib2to3|turtledemo|site-packages|dist-packages)[/\\]")

compileall.compile_dir(sysconfig.get_path("stdlib"), quiet=2, rx=LEFT_OUT)
# Packages may hold files that are no Python of this version (templates, tests of syntax): those are left as they are.
compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2)
sys.exit(not compileall.compile_dir("/.greenloop/packages", quiet=1))
