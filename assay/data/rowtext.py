"""The text in which a row is stored, and the digest that tells its content apart."""

from __future__ import annotations

import hashlib

import orjson

from assay.data import exact
from assay.data.jsonx import JSONObject
from assay.data.records import RowRead


def text_of(row: RowRead, values: JSONObject) -> str:
    """The stored text of `values`: those of `row`, with or without its media."""
    if row.text is not None and (values is row.values or values == row.values):
        return row.text.decode()
    return row_text(values, is_exact=row.is_exact)


def row_text(values: JSONObject, *, is_exact: bool = True) -> str:
    """The stored text of `values`. `is_exact` as in `RowRead`.

    Both writers write alike what both can write; only `exact` keeps the digits of
    numbers, only orjson is fast.
    """
    if is_exact:
        return exact.dumps(values)
    return orjson.dumps(values).decode()


def row_digest(values: JSONObject, *, is_exact: bool = True) -> str:
    """SHA-256 of the canonical text, 64 hexadecimal digits. The order of keys and the
    way in which a number is written make no difference."""
    if is_exact:
        data = exact.canonical(values).encode()
    else:
        data = orjson.dumps(values, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(data).hexdigest()
