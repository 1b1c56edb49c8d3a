"""Bytes that stand in text as base64."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import unquote


def decoded(text: str) -> bytes | None:
    """The bytes of base64 text, or None when it is none.

    Blanks and line ends inside, the URL-safe alphabet, percent signs and a missing
    padding do no harm.
    """
    if "%" in text:
        text = unquote(text)
    compact = "".join(text.split())
    if "-" in compact or "_" in compact:
        compact = compact.replace("-", "+").replace("_", "/")
    compact = compact.rstrip("=")
    try:
        padded = compact + "=" * (-len(compact) % 4)
        return base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        return None
