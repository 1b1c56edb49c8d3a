"""The only place that talks to a model: limits, retries, what models refuse.

A gateway belongs to one event loop. It keeps one client per connection: making one
costs tens of milliseconds of CPU, and a client is bound to the loop that it was first
used on.
"""

from __future__ import annotations

import asyncio
import email.utils
import hashlib
import logging
import math
import random
from collections.abc import Callable
from time import monotonic, time
from typing import Any

import httpx2
import openai
import orjson
from django.conf import settings
from openai import AsyncOpenAI

from assay.data.chat import ChatMessage, ChatReply, ChatRequest, ModelError
from assay.data.jsonx import JSONObject
from assay.data.media import BlobRef
from assay.running.plan import request_tokens
from targets import answers, bounds, failures, lessons, wire
from targets.clients import make_client, request_options
from targets.config import DeploymentConfig
from targets.limiter import Limiter
from targets.mediacache import MediaCache

__all__ = ["DeploymentConfig", "DeploymentModel", "Gateway", "make_client"]

log = logging.getLogger("targets.gateway")

TRIES = 5
TIMEOUT_TRIES = 2
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_HOLD = 120.0
MAX_LESSONS = 10
RETRIED = {408, 409, 429}
CLOSE_AFTER_SECONDS = 300.0
FORMATS = {"json_schema": "json_schema", "json_object": "json_mode"}
CAPABILITY = {"image": "images", "audio": "audio"}

Learn = Callable[[int, dict[str, Any]], None]


class DeploymentModel:
    """A `ChatModel`. Retries with jitter; learns what the model refuses.

    `known` is what was learned up to now. Calls of one deployment share it.
    """

    def __init__(
        self,
        config: DeploymentConfig,
        client: AsyncOpenAI,
        limiter: Limiter,
        media: MediaCache,
        learn: Learn,
        *,
        known: dict[str, Any],
        tries: int = TRIES,
    ) -> None:
        self.config = config
        self.known = known
        self._client = client
        self._options = request_options(config)
        self._limiter = limiter
        self._media = media
        self._learn = learn
        self._tries = tries

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises `ModelError` when no answer came after all tries."""
        tries = learned = 0
        while True:
            params = wire.parameters(request, set(self.known.get("refused", ())))
            messages = wire.without_media(request.messages, self._unreadable())
            started = monotonic()
            try:
                return await self._attempt(messages, params, request_tokens(request))
            except openai.APIStatusError as error:
                if learned < MAX_LESSONS and self._learns(error, messages, params):
                    learned += 1
                    continue
                tries += 1
                await self._pause_or_raise(error, tries, started)
            except openai.APIConnectionError as error:
                tries += 1
                if bound := bounds.too_large(error):
                    sentence = str(bound)
                    raise ModelError("too_large", sentence, permanent=True) from None
                failure = failures.from_connection(error, self.config.base_url)
                await self._again(failure, tries, started)
            except TimeoutError:
                tries += 1
                sentence = "The model did not answer in time."
                failure = ModelError("timeout", sentence, permanent=False)
                await self._again(failure, tries, started)
            except ModelError:
                raise
            except Exception as error:
                # Broken headers and the like; its text may repeat ours, key included.
                log.warning("answer_unreadable kind=%s", type(error).__name__)
                sentence = "The server's answer cannot be read."
                raise ModelError("broken_answer", sentence, permanent=True) from None

    async def _again(self, failure: ModelError, tries: int, started: float) -> None:
        """Wait for another try after a call without an answer, or give up."""
        most = self._tries
        if failure.code == "timeout":
            self._limiter.concurrency.press(started)
            most = min(most, TIMEOUT_TRIES)
        if tries >= most or failure.permanent:
            raise failure from None
        await asyncio.sleep(_pause(tries))

    async def _attempt(
        self, messages: tuple[ChatMessage, ...], params: JSONObject, tokens: int
    ) -> ChatReply:
        texts = await self._media.load(wire.media_of(messages))

        def encode(ref: BlobRef) -> str:
            return texts[ref.sha256]

        body: dict[str, Any] = {
            "model": self.config.model,
            "messages": [wire.message_body(m, encode) for m in messages],
            **params,
        }
        async with self._limiter.slot(tokens):
            started = monotonic()
            # The client's own limit is for each read: a slow drip would never end.
            async with asyncio.timeout(settings.MODEL_TIMEOUT_SECONDS):
                response = await self._client.post(
                    "/chat/completions",
                    body=body,
                    cast_to=httpx2.Response,
                    options=self._options,
                )
            elapsed = round((monotonic() - started) * 1000)
        self._limiter.concurrency.relax()
        body["messages"] = [wire.message_body(m, wire.by_name) for m in messages]
        answer = answers.read(response, self.config.hide)
        return answers.reply(answer, self.config, body, elapsed)

    def _unreadable(self) -> set[str]:
        """Kinds of media that this model is known not to read."""
        return {k for k, name in CAPABILITY.items() if self.known.get(name) is False}

    def _learns(
        self,
        error: openai.APIStatusError,
        messages: tuple[ChatMessage, ...],
        params: JSONObject,
    ) -> bool:
        """True when the refusal taught something, so that another try makes sense.

        Calls in flight together are refused together: what another one has learned
        meanwhile counts as well.
        """
        name = lessons.refused_parameter(error, params)
        if name:
            refused = set(self.known.get("refused", ()))
            if name not in refused:
                changed: dict[str, Any] = {"refused": sorted({*refused, name})}
                if name in FORMATS:
                    changed[FORMATS[name]] = False
                self._remember(changed)
            return True
        sent = {ref.kind for ref in wire.media_of(messages)} & CAPABILITY.keys()
        kinds = lessons.refused_media(error, {str(kind) for kind in sent})
        for kind in kinds:
            if self.known.get(CAPABILITY[kind]) is not False:
                self._remember({CAPABILITY[kind]: False})
        return bool(kinds)

    def _remember(self, changed: dict[str, Any]) -> None:
        self.known.update(changed)
        self._learn(self.config.pk, changed)

    async def _pause_or_raise(
        self, error: openai.APIStatusError, tries: int, started: float
    ) -> None:
        status = error.status_code
        config = self.config
        final = failures.from_status(error, config.model, tries, config.hide)
        retried = (status in RETRIED or status >= 500) and not final.stops_run
        if status == 429:
            self._limiter.concurrency.press(started)
        if not retried or tries >= self._tries:
            raise final from None
        asked = _retry_after(error)
        if asked is not None:
            self._limiter.hold(asked)
        await asyncio.sleep(asked if asked is not None else _pause(tries))


def _pause(tries: int) -> float:
    """Full jitter: anything up to a doubling bound."""
    bound = min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries)
    return random.uniform(0.1, bound)  # noqa: S311 - spreads load, hides nothing


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Seconds to wait: `retry-after-ms`, or `retry-after` as a number or a date."""
    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            asked = float(headers["retry-after-ms"]) / 1000
        else:
            asked = _seconds(headers.get("retry-after", ""))
    except (ValueError, TypeError, OverflowError):
        return None
    if math.isnan(asked):
        return None
    return min(max(asked, 0.0), LONGEST_HOLD)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return email.utils.parsedate_to_datetime(text).timestamp() - time()


class Gateway:
    """Clients, limiters and lessons of one event loop."""

    def __init__(self, learn: Learn) -> None:
        self._learn = learn
        self._clients: dict[int, tuple[str, AsyncOpenAI]] = {}
        self._limiters: dict[int, tuple[str, Limiter]] = {}
        self._known: dict[tuple[object, ...], dict[str, Any]] = {}
        self._media = MediaCache()

    def model(self, config: DeploymentConfig) -> DeploymentModel:
        """A model for a snapshot. Call it on the loop; it is cheap, so that each
        row may ask for its own."""
        return DeploymentModel(
            config,
            self._client(config),
            self._limiter(config),
            self._media,
            self._learn,
            known=self._lessons(config),
        )

    def trial(self, config: DeploymentConfig, *, tries: int = 1) -> DeploymentModel:
        """A model for a short test: it does not queue behind a run, and what it
        learns stays in its `known`."""
        return DeploymentModel(
            config,
            self._client(config),
            Limiter(concurrency=4),
            self._media,
            lambda _pk, _changed: None,
            known=dict(config.capabilities),
            tries=tries,
        )

    def _lessons(self, config: DeploymentConfig) -> dict[str, Any]:
        """What is known of a deployment, shared by all its calls.

        A test starts a new account of it (`since`): what was learned before it does
        not count any more.
        """
        since = config.capabilities.get("since")
        account = (config.pk, config.model, config.version, since)
        if account not in self._known:
            self._known = {k: v for k, v in self._known.items() if k[0] != config.pk}
            self._known[account] = dict(config.capabilities)
        return self._known[account]

    def _client(self, config: DeploymentConfig) -> AsyncOpenAI:
        known = self._clients.get(config.connection_pk)
        if known and known[0] == config.version:
            return known[1]
        client = make_client(config)
        self._clients[config.connection_pk] = (config.version, client)
        if known:
            # Calls that are under way may still use the former one.
            loop = asyncio.get_running_loop()
            loop.call_later(CLOSE_AFTER_SECONDS, _close_soon, known[1])
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


_closing: set[asyncio.Task[None]] = set()


def _close_soon(client: AsyncOpenAI) -> None:
    task = asyncio.get_running_loop().create_task(client.close())
    _closing.add(task)
    task.add_done_callback(_closing.discard)
