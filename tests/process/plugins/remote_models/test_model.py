"""When litellm is imported."""

from __future__ import annotations

import os
import subprocess
import sys


def test_importing_the_module_does_not_import_litellm():
    code = "import sys, greenloop.plugins.remote_models.model; sys.exit('litellm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_price_does_not_import_litellm():
    code = (
        "import sys; from greenloop.plugins.remote_models.providers import remote; from greenloop.project.settings import Settings;"
        "print(remote.create('openai/gpt-4o-mini', Settings()).price(1, 1), 'litellm' in sys.modules)"
    )
    keyed = os.environ | {"OPENAI_API_KEY": "sk-test"}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=keyed)
    assert done.stdout == b"7.5e-07 False\n"


def test_a_missing_key_is_noticed_at_once_and_without_litellm():
    code = (
        "import sys, time; from greenloop.plugins.remote_models import checks; from greenloop.project.settings import Settings\n"
        "began = time.process_time()\n"
        "try: checks.check('gpt-4o', Settings())\n"
        "except Exception as error: print(error.remedy)\n"
        "print('litellm' in sys.modules, time.process_time() - began)"
    )
    bare = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=bare)
    remedy, measured = done.stdout.splitlines()
    assert "OPENAI_API_KEY" in remedy
    is_loaded, seconds = measured.split()
    assert is_loaded == "False"
    assert float(seconds) < 0.5, "it takes 60 ms on an idle machine"
