"""Byte-compiles what every run imports; runs once in a container while an image is made.

A sandbox cannot write byte code (its root is read-only), and `python:3.x-slim` comes without any.
"""

import compileall
import re
import sys
import sysconfig

EXCLUDED = re.compile(r"[/\\](test|tests|idlelib|lib2to3|turtledemo|site-packages|dist-packages)[/\\]")

compileall.compile_dir(sysconfig.get_path("stdlib"), quiet=2, rx=EXCLUDED)
# Packages may hold files that are not valid Python of this version (templates, syntax tests): those stay uncompiled.
compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2)
sys.exit(not compileall.compile_dir("/.greenloop/packages", quiet=1))
