"""A cluster is named in one word, and what is wrong with it is one sentence."""

from __future__ import annotations

import sys

import pytest

import greenloop
from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop_lab.sandboxes.cluster import connection
from greenloop_lab.sandboxes.cluster.connection import parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [("ray", ""), ("ray://head", "head:6379"), ("ray://10.0.0.1:6399", "10.0.0.1:6399")],
)
def test_addresses(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "foo", "ray:head", "ray://", "ray://:6379", "ray://head:x", "ray://head/x"])
def test_what_is_no_cluster(text):
    with pytest.raises(UsageError, match="is not a cluster") as problem:
        parse_address(text)
    assert "--on ray" in problem.value.remedy


def test_a_missing_ray_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(CannotVerifyError, match="Ray is not installed") as problem:
        connection.connect("")
    assert 'pip install "./lab[ray]"' in problem.value.remedy


@pytest.mark.parametrize(
    ("address", "error", "sentence", "remedy"),
    [
        ("", ConnectionError("no"), "belongs to no Ray cluster", "ray start --head"),
        ("h:1", ConnectionError("no"), "The Ray cluster at h:1 cannot be used from here: no", "--num-cpus=0"),
        ("h:1", RuntimeError("Version mismatch: ..."), "another Ray or another Python", "same versions"),
        ("", RuntimeError("odd"), "cannot be used: odd", "ray start --head"),
    ],
)
def test_refused_connections(address, error, sentence, remedy):
    problem = connection.explain_refusal(address, error)
    assert sentence in str(problem)
    assert remedy in problem.remedy


def test_an_address_where_nothing_listens_is_told_at_once():
    with pytest.raises(CannotVerifyError, match="No Ray cluster answers at 127.0.0.1:1"):
        connection._check_reachable("127.0.0.1:1")


def test_the_identity_names_version_and_source():
    assert connection.identity().startswith(f"{greenloop.__version__} (")
