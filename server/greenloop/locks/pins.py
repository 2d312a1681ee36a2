"""One exact package, and the parts of PEP 508 that every lock shares."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from packaging.markers import InvalidMarker, Marker
from packaging.utils import canonicalize_name


@dataclass(frozen=True, kw_only=True, order=True)
class Pin:
    """A package by its normal name, its version, its files' hashes (`sha256:…`), and the marker that says where."""

    name: str
    version: str
    hashes: tuple[str, ...] = ()
    marker: str = ""

    def __str__(self) -> str:
        """As a line of a requirement file; whether it applies has been decided by then."""
        return " ".join([f"{self.name}=={self.version}", *(f"--hash={value}" for value in self.hashes)])


def pin(name: str, version: str, hashes: Collection[str], marker: str = "") -> Pin:
    """A pin with its name made normal and its hashes sorted."""
    return Pin(name=canonicalize_name(name), version=version, hashes=tuple(sorted({*hashes})), marker=marker)


def applies(marker: str | None, markers: Mapping[str, str], extras: Collection[str] = ()) -> bool:
    """Does the marker hold there, with any of these extras? One that cannot be read holds: too much harms less."""
    if not marker:
        return True
    try:
        parsed = Marker(marker)
    except InvalidMarker:
        return True
    environments = [{**markers, "extra": extra} for extra in ("", *extras)]
    return any(parsed.evaluate(environment) for environment in environments)
