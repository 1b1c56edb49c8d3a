"""The only place that talks to a model: keys, limits, retries, what models refuse.

A gateway belongs to one event loop. It keeps one client per connection: making one
costs tens of milliseconds of CPU, and a client is bound to the loop that it was first
used on.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import random
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import aiohttp
import httpx2
import openai
import orjson
from django.conf import settings
from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAioHttpClient
from openai._vendor.httpx_aiohttp.transport import AiohttpTransport

from assay.data.chat import ChatReply, ChatRequest, ModelError, Usage
from assay.data.jsonx import JSONObject
from assay.data.media import BlobRef
from assay.running.plan import request_tokens
from blobs import net, store
from targets import failures, wire
from targets.limiter import Limiter
from targets.models import Connection, Deployment

TRIES = 5
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
MEDIA_CACHE_BYTES = 128 * 1024 * 1024
MAX_LESSONS = 10
RETRIED = {408, 409, 429}
FORMATS = {"json_schema": "json_schema", "json_object": "json_mode"}


@dataclass(frozen=True, slots=True)
class DeploymentConfig:
    """A deployment as the loop sees it: a snapshot, no database behind it."""

    pk: int
    ref: str
    model: str
    connection_pk: int
    kind: str
    base_url: str
    api_version: str
    api_key: str
    headers: dict[str, str] = field(default_factory=dict)
    capabilities: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    ceiling: int | None = None
    price_input: float | None = None
    price_output: float | None = None
    simulated: bool = False
    version: str = ""

    @classmethod
    def of(cls, deployment: Deployment) -> DeploymentConfig:
        connection = deployment.connection
        return cls(
            pk=deployment.pk,
            ref=deployment.ref,
            model=deployment.model,
            connection_pk=connection.pk,
            kind=connection.kind,
            base_url=connection.url,
            api_version=connection.api_version,
            api_key=connection.api_key,
            headers=orjson.loads(connection.headers) if connection.headers else {},
            capabilities=dict(deployment.capabilities),
            limits=dict(deployment.limits),
            ceiling=connection.concurrency,
            price_input=_float(deployment.price_input),
            price_output=_float(deployment.price_output),
            simulated=connection.is_simulated,
            version=f"{connection.updated_at.isoformat()}|{connection.url}",
        )

    @property
    def concurrency(self) -> int:
        wanted = int(self.limits.get("concurrency") or 8)
        return min(wanted, self.ceiling) if self.ceiling else wanted


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


class MediaCache:
    """Base64 of blobs, encoded once, the least used dropped first."""

    def __init__(self, limit: int = MEDIA_CACHE_BYTES) -> None:
        self._limit = limit
        self._held = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    async def load(self, refs: set[BlobRef]) -> dict[str, str]:
        """Texts by hash. Bytes are read and encoded in a thread."""
        found: dict[str, str] = {}
        for ref in refs:
            text = self._texts.get(ref.sha256)
            if text is None:
                text = await asyncio.to_thread(_encode, ref.sha256)
                self._keep(ref.sha256, text)
            else:
                self._texts.move_to_end(ref.sha256)
            found[ref.sha256] = text
        return found

    def _keep(self, sha: str, text: str) -> None:
        if sha in self._texts:
            return
        self._texts[sha] = text
        self._held += len(text)
        while self._held > self._limit and len(self._texts) > 1:
            _sha, dropped = self._texts.popitem(last=False)
            self._held -= len(dropped)


def _encode(sha: str) -> str:
    data, _mime = store.read_bytes(sha)
    return base64.b64encode(data).decode("ascii")


Learn = Callable[[int, dict[str, Any]], None]


class DeploymentModel:
    """A `ChatModel`. Retries with jitter; learns what the model refuses."""

    def __init__(
        self,
        config: DeploymentConfig,
        client: AsyncOpenAI,
        limiter: Limiter,
        media: MediaCache,
        learn: Learn,
    ) -> None:
        self.config = config
        self._client = client
        self._limiter = limiter
        self._media = media
        self._learn = learn
        self._capabilities = dict(config.capabilities)
        self._refused: set[str] = set(self._capabilities.get("refused", ()))

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises `ModelError` when no answer came after all tries."""
        tries, lessons = 0, 0
        while True:
            params = wire.parameters(request, self._refused)
            try:
                return await self._attempt(request, params)
            except openai.APIStatusError as error:
                if lessons < MAX_LESSONS and self._learns(error, params):
                    lessons += 1
                    continue
                tries += 1
                await self._pause_or_raise(error, tries)
            except openai.APIConnectionError as error:
                tries += 1
                if isinstance(error, openai.APITimeoutError):
                    self._limiter.concurrency.press()
                if tries >= TRIES or _is_final(error):
                    url = self.config.base_url
                    raise failures.from_connection(error, url) from error
                await asyncio.sleep(_pause(tries))

    async def _attempt(self, request: ChatRequest, params: JSONObject) -> ChatReply:
        messages = wire.without_media(request.messages, self._unreadable())
        texts = await self._media.load(wire.media_of(messages))

        def encode(ref: BlobRef) -> str:
            return texts[ref.sha256]

        body: dict[str, Any] = {
            "model": self.config.model,
            "messages": [wire.message_body(m, encode) for m in messages],
            **params,
        }
        async with self._limiter.slot(request_tokens(request)):
            started = monotonic()
            answer = await self._post(body)
            elapsed = round((monotonic() - started) * 1000)
        self._limiter.concurrency.relax()
        kept = [wire.message_body(m, wire.by_name) for m in messages]
        return self._reply(answer, {**body, "messages": kept}, elapsed)

    def _unreadable(self) -> set[str]:
        """Kinds of media that this model is known not to read."""
        names = {"image": "images", "audio": "audio"}
        return {k for k, name in names.items() if self._capabilities.get(name) is False}

    async def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        response = await self._client.post(
            "/chat/completions", body=body, cast_to=httpx2.Response
        )
        try:
            answer = orjson.loads(response.content)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not answer.get("choices"):
            beginning = response.text.strip()[:120]
            raise ModelError(
                "not_an_answer",
                "The server's answer is not a chat completion. It begins with: "
                f"{beginning}",
                permanent=True,
            )
        return answer

    def _reply(
        self, answer: dict[str, Any], sent: JSONObject, elapsed: int
    ) -> ChatReply:
        choice = answer["choices"][0]
        message = choice.get("message") or {}
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(
                str(part.get("text", "")) for part in content if isinstance(part, dict)
            )
        usage = answer.get("usage") or {}
        read = int(usage.get("prompt_tokens") or 0)
        written = int(usage.get("completion_tokens") or 0)
        return ChatReply(
            text=content,
            finish_reason=choice.get("finish_reason"),
            refusal=message.get("refusal"),
            reasoning=message.get("reasoning_content"),
            tool_calls=tuple(message.get("tool_calls") or ()),
            model=str(answer.get("model") or self.config.model),
            usage=Usage(read, written, self._cost(read, written), 1),
            latency_ms=elapsed,
            sent=sent,
            simulated=self.config.simulated,
        )

    def _cost(self, read: int, written: int) -> float | None:
        if self.config.price_input is None or self.config.price_output is None:
            return None
        return (
            read * self.config.price_input + written * self.config.price_output
        ) / 1_000_000

    def _learns(self, error: openai.APIStatusError, params: JSONObject) -> bool:
        """True when the refusal taught something, so that another try makes sense.

        Calls in flight together are refused together: what another one has learned
        meanwhile counts as well.
        """
        name = failures.refused_parameter(error, set(params))
        if name == "response_format":
            name = str(params["response_format"]["type"])  # type: ignore[index,call-overload]
        if name:
            if name not in self._refused:
                self._refused.add(name)
                changed: dict[str, Any] = {"refused": sorted(self._refused)}
                if name in FORMATS:
                    changed[FORMATS[name]] = False
                self._remember(changed)
            return True
        if failures.refuses_media(error):
            text = failures.message_of(error).lower()
            key = "audio" if "audio" in text else "images"
            if self._capabilities.get(key) is not False:
                self._remember({key: False})
            return True
        return False

    def _remember(self, changed: dict[str, Any]) -> None:
        self._capabilities.update(changed)
        self._learn(self.config.pk, changed)

    async def _pause_or_raise(self, error: openai.APIStatusError, tries: int) -> None:
        status = error.status_code
        final = failures.from_status(error, self.config.model)
        retried = (status in RETRIED or status >= 500) and not final.stops_run
        if status == 429:
            self._limiter.concurrency.press()
        if not retried or tries >= TRIES:
            raise final from error
        asked = _retry_after(error)
        if asked is not None:
            self._limiter.hold(asked)
        await asyncio.sleep(asked if asked is not None else _pause(tries))


def _pause(tries: int) -> float:
    """Full jitter: anything up to a doubling bound."""
    bound = min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries)
    return random.uniform(0.1, bound)  # noqa: S311 - spreads load, hides nothing


def _retry_after(error: openai.APIStatusError) -> float | None:
    try:
        asked = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(max(asked, 0.0), 120.0)


def _is_final(error: openai.APIConnectionError) -> bool:
    """A refused address will not be allowed at the next try."""
    return failures.from_connection(error, "").code == "address_refused"


class Gateway:
    """Clients, limiters and models of one event loop."""

    def __init__(self, learn: Learn) -> None:
        self._learn = learn
        self._clients: dict[int, tuple[str, AsyncOpenAI]] = {}
        self._limiters: dict[int, tuple[str, Limiter]] = {}
        self._media = MediaCache()

    def model(self, config: DeploymentConfig) -> DeploymentModel:
        """A model for a snapshot. Call it on the loop."""
        return DeploymentModel(
            config,
            self._client(config),
            self._limiter(config),
            self._media,
            self._learn,
        )

    def _client(self, config: DeploymentConfig) -> AsyncOpenAI:
        known = self._clients.get(config.connection_pk)
        if known and known[0] == config.version:
            return known[1]
        client = make_client(config)
        self._clients[config.connection_pk] = (config.version, client)
        return client

    def _limiter(self, config: DeploymentConfig) -> Limiter:
        shape = hashlib.sha256(
            orjson.dumps([config.concurrency, config.limits])
        ).hexdigest()
        known = self._limiters.get(config.pk)
        if known and known[0] == shape:
            return known[1]
        limiter = Limiter(
            concurrency=config.concurrency,
            requests_per_minute=config.limits.get("requests_per_minute"),
            tokens_per_minute=config.limits.get("tokens_per_minute"),
        )
        self._limiters[config.pk] = (shape, limiter)
        return limiter

    async def close(self) -> None:
        for _version, client in self._clients.values():
            await client.close()
        self._clients.clear()


def make_client(config: DeploymentConfig) -> AsyncOpenAI:
    """A client whose sockets refuse private addresses; it neither retries nor
    follows redirects."""
    if not config.base_url:
        sentence = "The simulator is not running. Start the portal with `make run`."
        raise ModelError("unreachable", sentence, permanent=True, stops_run=True)
    private = list(settings.PRIVATE_NETWORKS)
    if config.simulated:
        private += ["127.0.0.0/8", "::1/128"]
    factory = net.guarded_socket(net.networks(private))

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=60, socket_factory=factory
        )
        return aiohttp.ClientSession(connector=connector)

    http_client = DefaultAioHttpClient(
        transport=AiohttpTransport(client=session),
        follow_redirects=False,
        timeout=httpx2.Timeout(settings.MODEL_TIMEOUT_SECONDS, connect=10.0),
    )
    common: dict[str, Any] = {
        "api_key": config.api_key or "none",
        "http_client": http_client,
        "max_retries": 0,
        "default_headers": config.headers or None,
    }
    if config.kind == Connection.Kind.AZURE:
        return AsyncAzureOpenAI(
            azure_endpoint=config.base_url, api_version=config.api_version, **common
        )
    return AsyncOpenAI(base_url=config.base_url, **common)
