"""Clients of the two kinds of endpoint, over sockets that refuse private addresses."""

from __future__ import annotations

from typing import Any

import aiohttp
import httpx2
from django.conf import settings
from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAioHttpClient, Omit
from openai._types import RequestOptions

from assay.data.chat import ModelError
from blobs import net
from targets.bounds import BoundedTransport
from targets.config import DeploymentConfig
from targets.models import Connection

CONNECT_SECONDS = 10.0
NO_KEY = "none"
NOT_FROM_ENVIRONMENT = ("OpenAI-Organization", "OpenAI-Project")


def make_client(config: DeploymentConfig) -> AsyncOpenAI:
    """A client that neither retries nor follows redirects, and takes no proxy,
    organisation or key from the environment."""
    if not config.base_url:
        sentence = "The simulator is not running. Start the portal with `make run`."
        raise ModelError("unreachable", sentence, permanent=True, stops_run=True)
    private = list(settings.PRIVATE_NETWORKS)
    if config.simulated:
        # Its address comes from the operator's environment, not from a form.
        private += ["0.0.0.0/0", "::/0"]
    factory = net.guarded_socket(net.networks(private))

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=60, socket_factory=factory
        )
        return aiohttp.ClientSession(connector=connector)

    http_client = DefaultAioHttpClient(
        transport=BoundedTransport(client=session),
        follow_redirects=False,
        timeout=httpx2.Timeout(settings.MODEL_TIMEOUT_SECONDS, connect=CONNECT_SECONDS),
    )
    common: dict[str, Any] = {
        "api_key": config.api_key or NO_KEY,
        "http_client": http_client,
        "max_retries": 0,
        "default_headers": {
            **dict.fromkeys(NOT_FROM_ENVIRONMENT, Omit()),
            **config.headers,
        },
    }
    if config.kind == Connection.Kind.AZURE:
        return AsyncAzureOpenAI(
            azure_endpoint=config.base_url, api_version=config.api_version, **common
        )
    return AsyncOpenAI(base_url=config.base_url, **common)


def request_options(config: DeploymentConfig) -> RequestOptions:
    """Without a key no made-up one is sent: some proxies refuse it."""
    if config.api_key or config.kind == Connection.Kind.AZURE:
        return {}
    return {"headers": {"Authorization": Omit()}}
