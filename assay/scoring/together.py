"""Several calls at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def all_of(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each call gives; the first error, once every call has ended.

    No call is left running behind the caller's back.
    """
    found: list[T] = []
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
        found.append(outcome)
    return found
