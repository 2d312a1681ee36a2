"""Names the proxy that requests to the network go through."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies


def proxy_clause() -> str:
    """`, through the proxy HOST:PORT (HTTPS_PROXY)`, without its password; empty where no proxy is set."""
    proxies = getproxies()
    scheme = next((name for name in ("https", "all") if proxies.get(name)), "")
    if not scheme:
        return ""
    value = proxies[scheme]
    host = urlsplit(value if "://" in value else f"//{value}").netloc.rpartition("@")[2]
    return f", through the proxy {host} ({scheme.upper()}_PROXY)"
