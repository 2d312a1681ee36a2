"""`python -m greenloop` is the command `greenloop`."""

import sys

from greenloop.cli.main import main

sys.exit(main())
