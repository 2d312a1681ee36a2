"""Exact packages, and the evaluation of PEP 508 markers that all lock formats share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from packaging.markers import InvalidMarker, Marker
from packaging.utils import canonicalize_name


@dataclass(frozen=True, kw_only=True, order=True)
class Pin:
    """A package: normalised name, version, hashes of its files (`sha256:…`), and the marker under which it applies."""

    name: str
    version: str
    hashes: tuple[str, ...] = ()
    marker: str = ""

    def __str__(self) -> str:
        """The pin as a line of a requirement file, without its marker, which has been evaluated by then."""
        return " ".join([f"{self.name}=={self.version}", *(f"--hash={value}" for value in self.hashes)])


def make_pin(name: str, version: str, hashes: Collection[str], marker: str = "") -> Pin:
    """Makes a pin, with its name normalised and its hashes sorted."""
    return Pin(name=canonicalize_name(name), version=version, hashes=tuple(sorted({*hashes})), marker=marker)


def applies(marker: str | None, markers: Mapping[str, str], extras: Collection[str] = ()) -> bool:
    """Does the marker hold, with any of these extras? An unreadable one does: an extra package is the lesser harm."""
    if not marker:
        return True
    try:
        parsed = Marker(marker)
    except InvalidMarker:
        return True
    environments = [{**markers, "extra": extra} for extra in ("", *extras)]
    return any(parsed.evaluate(environment) for environment in environments)
