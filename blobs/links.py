"""Loads media from links that stand in data: public addresses only, media only.

A link comes from whoever wrote the data, so nothing about it is believed: each name is
resolved and every address of it checked, again when the socket connects, and again for
each redirect. No cookies, proxies or passwords; at most `max_bytes` are read; the type
is the one of the bytes.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from assay.data.records import size as size_text
from blobs.net import AddressRefused, Network, guarded_socket, is_allowed
from blobs.sniff import HEAD_BYTES, mime_of

MAX_REDIRECTS = 3
MAX_URL = 4096
CHUNK_BYTES = 64 * 1024
HEADERS = {
    "Accept": "image/*, audio/*",
    "Accept-Encoding": "identity",
    "User-Agent": "assay",
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Fetched:
    """The bytes that a link gave, their sniffed type, and where they were found."""

    data: bytes
    mime: str
    url: str


@dataclass(frozen=True, slots=True)
class LinkProblem:
    """Why a link was not loaded: a stable code and a sentence for people."""

    code: str
    message: str


MALFORMED = LinkProblem("malformed", "The link is not a web address.")
SCHEME = LinkProblem("scheme", "Only http and https links are loaded.")
CREDENTIALS = LinkProblem("credentials", "The link holds a user name or a password.")
PRIVATE = LinkProblem(
    "address_not_allowed",
    "The address is not allowed: the link leads into a private network.",
)
UNKNOWN_NAME = LinkProblem("unknown_name", "The name of the server is not known.")
UNREACHABLE = LinkProblem("unreachable", "The server cannot be reached.")
BROKEN = LinkProblem("broken", "The server's answer cannot be read.")
REDIRECTS = LinkProblem(
    "redirects", f"The link is redirected more than {MAX_REDIRECTS} times."
)
ENCODED = LinkProblem("encoded", "The server sent the file compressed.")
EMPTY = LinkProblem("empty", "The file is empty.")
NOT_MEDIA = LinkProblem("not_media", "The link gives no image and no recording.")
OUT_OF_TIME = LinkProblem(
    "out_of_time", "The time for loading links was over before this one."
)


class _RefusedError(Exception):
    def __init__(self, problem: LinkProblem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def problem_of(url: str, private: Sequence[Network] = ()) -> LinkProblem | None:
    """What is wrong with a link by itself, without asking anybody."""
    try:
        return _problem_of(_parsed(url), private)
    except _RefusedError as refused:
        return refused.problem


def fetch_all(
    urls: Iterable[str],
    *,
    private: Sequence[Network],
    max_bytes: int,
    seconds: float,
    total_seconds: float,
    parallel: int = 8,
    resolver: AbstractResolver | None = None,
) -> dict[str, Fetched | LinkProblem]:
    """What each of `urls` gives, each asked once.

    `private` are networks that are allowed beside public addresses; `max_bytes` is the
    limit of one file, `seconds` of one link with its redirects, `total_seconds` of all
    together. Up to `parallel` files are in work at once. Runs a loop of its own, so it
    must not be called from a running one.
    """
    wanted = list(dict.fromkeys(urls))
    if not wanted:
        return {}

    async def everything() -> dict[str, Fetched | LinkProblem]:
        loader = _Loader(private, max_bytes, seconds, total_seconds, parallel)
        async with loader.session(resolver) as session:
            results = await asyncio.gather(*(loader.load(session, u) for u in wanted))
        return dict(zip(wanted, results, strict=True))

    return asyncio.run(everything())


class _GuardedResolver(AbstractResolver):
    """Refuses a name when any of its addresses is not allowed."""

    def __init__(self, inner: AbstractResolver, private: Sequence[Network]) -> None:
        self._inner = inner
        self._private = private

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        for entry in found:
            if not is_allowed(entry["host"], self._private):
                raise AddressRefused(f"{host} has the private address {entry['host']}.")
        return found

    async def close(self) -> None:
        await self._inner.close()


class _Loader:
    def __init__(
        self,
        private: Sequence[Network],
        max_bytes: int,
        seconds: float,
        total_seconds: float,
        parallel: int,
    ) -> None:
        self._private = private
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._until = time.monotonic() + total_seconds
        self._places = asyncio.Semaphore(parallel)

    def session(self, resolver: AbstractResolver | None) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,
            force_close=True,
            use_dns_cache=False,
            resolver=_GuardedResolver(
                resolver or aiohttp.ThreadedResolver(), self._private
            ),
            socket_factory=guarded_socket(self._private),
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            headers=HEADERS,
            timeout=aiohttp.ClientTimeout(total=None),
        )

    async def load(
        self, session: aiohttp.ClientSession, url: str
    ) -> Fetched | LinkProblem:
        async with self._places:
            left = self._until - time.monotonic()
            if left <= 0:
                return OUT_OF_TIME
            try:
                async with asyncio.timeout(min(left, self._seconds)):
                    return await self._follow(session, _parsed(url))
            except _RefusedError as refused:
                return refused.problem
            except TimeoutError:
                return OUT_OF_TIME if left < self._seconds else self._slow()
            except (aiohttp.ClientError, OSError, ValueError) as error:
                return _problem_from(error)

    def _slow(self) -> LinkProblem:
        message = f"The file did not arrive within {self._seconds:g} seconds."
        return LinkProblem("slow", message)

    async def _follow(self, session: aiohttp.ClientSession, url: URL) -> Fetched:
        for _hop in range(MAX_REDIRECTS + 1):
            if problem := _problem_of(url, self._private):
                raise _RefusedError(problem)
            async with session.get(url, allow_redirects=False) as response:
                if response.status not in _REDIRECTS:
                    return await self._read(response)
                url = url.join(_parsed(response.headers.get("Location", "")))
        raise _RefusedError(REDIRECTS)

    async def _read(self, response: aiohttp.ClientResponse) -> Fetched:
        if response.status != 200:
            message = f"The server answered with the status {response.status}."
            raise _RefusedError(LinkProblem("status", message))
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise _RefusedError(ENCODED)
        if (response.content_length or 0) > self._max_bytes:
            raise _RefusedError(self._too_large())
        data = bytearray()
        mime = ""
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            data += chunk
            if len(data) > self._max_bytes:
                raise _RefusedError(self._too_large())
            if not mime and len(data) >= HEAD_BYTES:
                mime = _media_type(data)
        if not data:
            raise _RefusedError(EMPTY)
        return Fetched(bytes(data), mime or _media_type(data), str(response.url))

    def _too_large(self) -> LinkProblem:
        message = f"The file is larger than {size_text(self._max_bytes)}."
        return LinkProblem("too_large", message)


def _media_type(data: bytearray) -> str:
    mime = mime_of(bytes(data[:HEAD_BYTES]))
    if mime.partition("/")[0] not in ("image", "audio"):
        raise _RefusedError(NOT_MEDIA)
    return mime


def _parsed(text: str) -> URL:
    has_blanks = any(character <= " " or character == "\\" for character in text)
    if not text or has_blanks or len(text) > MAX_URL:
        raise _RefusedError(MALFORMED)
    try:
        url = URL(text)
        _host, _port = url.raw_host, url.port
    except ValueError:
        raise _RefusedError(MALFORMED) from None
    return url


def _problem_of(url: URL, private: Sequence[Network]) -> LinkProblem | None:
    if url.scheme not in ("http", "https"):
        return SCHEME if url.scheme else MALFORMED
    host = url.raw_host
    if not host:
        return MALFORMED
    if url.raw_user is not None or url.raw_password is not None:
        return CREDENTIALS
    address = _literal(host)
    return None if address is None or is_allowed(address, private) else PRIVATE


def _literal(host: str) -> str | None:
    """The address that `host` is, also in decimal, octal, hex or short form."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, UnicodeEncodeError):
        return None


def _problem_from(error: BaseException) -> LinkProblem:
    """The problem behind an error of the client, found along its causes."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AddressRefused):
            return PRIVATE
        cause = getattr(cause, "os_error", None) or cause.__cause__
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return UNKNOWN_NAME
    if isinstance(error, aiohttp.ClientConnectionError) and not isinstance(
        error, aiohttp.ServerDisconnectedError
    ):
        return UNREACHABLE
    return BROKEN
