"""The facts that the Python of an image reports."""

from __future__ import annotations

import json

from greenloop_sandbox.container import image_python

ANSWER = {"libc": ["glibc", "2.36"], "markers": {}}
ANSWER["markers"] = {"python_version": "3.11", "platform_machine": "x86_64"}
FACTS = image_python.parse("a warning\n" + json.dumps(ANSWER))
