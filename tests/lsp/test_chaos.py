"""A random editor at work, by seed: nothing that was typed is lost, nothing stale is shown, nothing is left running.

A failure names the line that replays it, and looks for the shortest failing beginning; `make soak` does ten thousand operations.
"""

import pytest

import chaos

OPERATIONS = 500


def holds(seed, operations, **how):
    error, session, report = chaos.attempt(seed, operations, **how)
    if error is not None:
        pytest.fail(f"{error}\nreplay: {chaos.replay(seed, session.reached, **how)}")
    return report


@pytest.mark.parametrize("seed", ["keyboard", "mouse", "trackball"])
def test_a_random_session(seed):
    report = holds(seed, OPERATIONS)
    assert report["seen"]["edits applied"] > 0  # else nothing was tried


@pytest.mark.story("whatever an editor does, no typed text is lost", only=("kate",))
@pytest.mark.parametrize(
    "client", ["ale-3.3-vim9.0", "eglot-1.17-emacs30", "helix-25.01", "kate-25.04", "nvim-0.7.2", "vim-lsp"]
)
def test_a_random_session_of_a_client_that_can_less(client):
    """Positions in other units, edits without versions or from code actions only, no answers at all."""
    holds(client, 200, client=client)


@pytest.mark.needs("bubblewrap")
@pytest.mark.timeout(300)
def test_a_random_session_with_the_real_engine():
    report = holds("engine", 120, real=True)
    assert report["seen"]["window/workDoneProgress/create"] > 0


def test_damage_is_noticed():
    """The judge itself: what an edit may not do is told from what it may."""
    from chaos_texts import owned

    before = "def f0(x):\r\n    value = 1  # typed\r\n# L3\r\n    return x\r\n# also typed"
    allowed = before.replace("value = 1", "value = R9").replace("# L3\r\n", "") + "\r\n# L9\r\n"
    assert owned(allowed)[0] == owned(before)[0]
    assert owned(allowed)[1] == ["9"]
    for damage in (
        before.replace("# typed", ""),
        before.replace("\r\n", "\n", 1),
        before.replace("# also", "# als"),
        before + "\r\n# also typed",
    ):
        assert owned(damage)[0] != owned(before)[0]
