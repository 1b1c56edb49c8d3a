"""A gateway without a database, and models that talk to the fake server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from assay.data.chat import ChatMessage, ChatReply, ChatRequest
from targets import gateway as gateway_module
from targets.gateway import DeploymentConfig, Gateway
from targets.loop import stop_loop

KEY = "sk-test-51Hq9ZzYyXxWw0142"


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    monkeypatch.setattr(gateway_module, "_pause", lambda _tries: 0.01)


@pytest.fixture(autouse=True)
def no_loop_left():
    yield
    stop_loop()


def config(url: str, **changes: Any) -> DeploymentConfig:
    fields: dict[str, Any] = {
        "pk": 1,
        "ref": "model_1",
        "model": "fake",
        "connection_pk": 1,
        "kind": "openai",
        "base_url": url,
        "api_version": "",
        "api_key": KEY,
        "price_input": 1.0,
        "price_output": 2.0,
    }
    return DeploymentConfig(**{**fields, **changes})


def say(text: str = "Hello", **fields: Any) -> ChatRequest:
    return ChatRequest((ChatMessage.text("user", text),), **fields)


class Lab:
    """One gateway; `learned` is what it told the database."""

    def __init__(self) -> None:
        self.learned: list[dict[str, Any]] = []

    def run(self, work: Callable[[Gateway], Any]) -> Any:
        async def whole() -> Any:
            gateway = Gateway(lambda _pk, changed: self.learned.append(changed))
            try:
                return await work(gateway)
            finally:
                await gateway.close()

        return asyncio.run(whole())

    def ask(self, url: str, *requests: ChatRequest, **changes: Any) -> list[Any]:
        """The replies to `requests`, sent at once; each row makes its own model."""
        settings = config(url, **changes)

        async def work(gateway: Gateway) -> list[ChatReply]:
            calls = [gateway.model(settings).complete(r) for r in requests]
            return await asyncio.gather(*calls)

        return self.run(work)

    def one(self, url: str, request: ChatRequest | None = None, **changes: Any):
        return self.ask(url, request or say(), **changes)[0]


@pytest.fixture
def lab() -> Lab:
    return Lab()
