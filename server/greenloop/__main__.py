"""Runs the command `greenloop` as `python -m greenloop`."""

import sys

from greenloop.cli.main import main

sys.exit(main())
