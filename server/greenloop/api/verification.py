"""Verifies code: the working tree by a commit's tests, a past run, or an exported one."""

from __future__ import annotations

from greenloop.engine.verify.known_failing import FILE
from greenloop.engine.verify.replay import replay
from greenloop.engine.verify.report import State, Tampering, Verification
from greenloop.engine.verify.report_json import result_json
from greenloop.engine.verify.run_file import verify_run_file
from greenloop.engine.verify.setup import APART, Require, VerifyRequest
from greenloop.engine.verify.verify import verify
from greenloop.project.sandbox_selection import CLUSTER, load_back_end
