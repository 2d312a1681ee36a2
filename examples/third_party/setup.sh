#!/bin/sh
# Makes the project's own environment; greenloop finds it by its name.
set -e
cd "$(dirname "$0")"
python3 -m venv .venv
.venv/bin/pip install -q --disable-pip-version-check -r requirements.txt
