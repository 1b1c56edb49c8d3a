"""Answers of a bounded size: what a server sends cannot fill the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from openai._vendor.httpx_aiohttp.transport import AiohttpTransport

MOST_BYTES = 8 * 1024 * 1024


class AnswerTooLarge(httpx2.TransportError):
    """More came than an answer can be; the rest is not read."""


class BoundedStream(httpx2.AsyncByteStream):
    """The body of an answer, at most `MOST_BYTES` of it."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for piece in self._stream:
            seen += len(piece)
            if seen > MOST_BYTES:
                raise AnswerTooLarge(f"The answer has more than {MOST_BYTES} bytes.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedTransport(AiohttpTransport):
    """Reads a bounded answer that is not compressed: a small one cannot become huge."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise AnswerTooLarge("The answer is compressed although it must not be.")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = BoundedStream(response.stream)
        return response


def too_large(error: BaseException) -> AnswerTooLarge | None:
    """The bound that an error of the client was caused by, if it was."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AnswerTooLarge):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None
