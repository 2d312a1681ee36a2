"""The proxy in a sentence."""

import pytest

from greenloop.models.proxy import proxy_clause

NAMES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.mark.parametrize(
    ("name", "value", "clause"),
    [
        ("", "", ""),
        ("HTTPS_PROXY", "http://me:secret@proxy.corp:3128", ", through the proxy proxy.corp:3128 (HTTPS_PROXY)"),
        ("https_proxy", "proxy.corp:3128", ", through the proxy proxy.corp:3128 (HTTPS_PROXY)"),
        ("ALL_PROXY", "socks5://10.0.0.1:1080", ", through the proxy 10.0.0.1:1080 (ALL_PROXY)"),
    ],
)
def test_a_proxy_is_named_without_its_password(monkeypatch, name, value, clause):
    for each in NAMES:
        monkeypatch.delenv(each, raising=False)
    if name:
        monkeypatch.setenv(name, value)
    assert proxy_clause() == clause
