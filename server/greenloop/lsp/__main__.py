"""`python -m greenloop.lsp`: the language server on standard input and output."""

import sys

from greenloop.lsp.server import serve

sys.exit(serve())
