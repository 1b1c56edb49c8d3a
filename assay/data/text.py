"""Sentences for people, written in English and translated where they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


def gettext_noop(message: str) -> str:
    """Marks `message` for the translators' catalogue."""
    return message


@dataclass(frozen=True, slots=True)
class Sentence:
    """`message` is the key in the catalogue, `params` fill its `%(name)s`."""

    message: str
    params: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message % self.params if self.params else self.message


def storable(text: str) -> str:
    """`text` as every database takes it: NUL and lone surrogates are replaced."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
