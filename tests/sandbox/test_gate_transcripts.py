"""The hook that setup installs for each client, fed with the client's documented input: a faked pass and a real one."""

from __future__ import annotations

import pytest

from gate_clients import MOST_TOKENS, GateProject, play, play_honestly
from greenloop.plugins.setup.editors import GATES

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]


@pytest.mark.parametrize(
    "client", [pytest.param(name, marks=[pytest.mark.needs("node")] * (name == "opencode")) for name in GATES]
)
def test_a_faked_pass_is_refused_once_and_a_real_one_accepted(client, tmp_path, bare_python):
    refused, again, accepted = [answer for _did, answer in play(GateProject(client, tmp_path, str(bare_python)))]
    assert refused.decision == "goes on"
    assert "m.py" in refused.text
    assert "do not fake the pass" in refused.text
    assert len(refused.text) / 4 <= MOST_TOKENS
    assert again.decision.startswith("stops")
    assert (accepted.decision, accepted.text) == ("stops", "")


def test_what_an_agent_may_say_instead_of_cheating_reaches_the_user(tmp_path, bare_python):
    steps = play_honestly(GateProject("claude", tmp_path, str(bare_python)))
    unchanged, edited, allowed, stopped = [answer for _did, answer in steps]
    assert (unchanged.decision, unchanged.text) == ("stops", "")
    assert edited.decision == "goes on"
    assert "--allow-test-change" in edited.text
    assert allowed.decision == stopped.decision == "stops, and the user is informed"
    assert "test_m.py as changed. The reason: the user says that double(5) is 6" in allowed.text
    assert "says why: the user wants one() to be 2, and test_one wants 1" in stopped.text
    assert "failed: test_m.py::test_one" in stopped.text
