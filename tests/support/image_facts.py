"""The facts that the Python of an image reports."""

from __future__ import annotations

import json

from greenloop_sandbox.container import image_python

PATHS = {
    "purelib": "/usr/lib/site",
    "platlib": "/usr/lib/site",
    "scripts": "/usr/bin",
    "data": "/usr",
    "include": "/usr/include",
}
ANSWER = {"paths": PATHS, "executable": "/usr/bin/python3", "libc": ["glibc", "2.36"], "markers": {}}
ANSWER["markers"] = {"python_version": "3.11", "platform_machine": "x86_64"}
FACTS = image_python.parse("a warning\n" + json.dumps(ANSWER))
