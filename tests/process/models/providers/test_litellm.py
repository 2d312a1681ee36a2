"""When litellm is imported."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_module_does_not_import_litellm():
    code = "import sys, greenloop.models.providers.litellm; sys.exit('litellm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_price_is_worth_the_import_of_litellm():
    code = (
        "import sys; from greenloop.models.providers import litellm; from greenloop.project.settings import Settings;"
        "print(litellm.create('openai/gpt-4o-mini', Settings()).price(1, 1), 'litellm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"None False\n"
