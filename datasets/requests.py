"""What a job is asked to do, as it is stored with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class _Request:
    @classmethod
    def of(cls, stored: dict[str, Any]) -> Self:
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in stored.items() if key in known})

    def as_json(self) -> dict[str, Any]:
        """Only what differs from the default."""
        plain = {item.name: getattr(type(self)(), item.name) for item in fields(self)}
        return {key: v for key, v in asdict(self).items() if v != plain[key]}


@dataclass(frozen=True, slots=True)
class ReadRequest(_Request):
    """How to read a file. Empty values mean: as detected.

    `needs_review`: stop before the version is ready when something was found.
    `skip_bad`: take the good rows although others are wrong. `drop`: rows to leave
    out, counted among the good ones from 1. `fetch_links`: store the media behind
    links. `has_header` is "", "yes" or "no".
    """

    encoding: str = ""
    delimiter: str = ""
    has_header: str = ""
    read_json: bool = False
    skip_bad: bool = False
    fetch_links: bool = False
    needs_review: bool = False
    drop: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DeriveRequest(_Request):
    """Which rows of the base to take, and how to change them.

    `rows`: indexes to take in this order; None takes all. `kinds`: new kinds of
    columns by name. The `RowChange`s of the version are applied as well.
    """

    rows: list[int] | None = None
    kinds: dict[str, str] = field(default_factory=dict)


AS_DETECTED = ReadRequest()
