"""Endpoints that misbehave: bounded, timed, named in plain words, keys never shown."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import time

import pytest

from assay.data.chat import ChatMessage, ChatRequest, ModelError
from targets.config import DeploymentConfig
from targets.gateway import Gateway
from tests.fakes.llm import Answer, FakeLLM, error, verdict
from tests.support.making import make_deployment

REQUEST = ChatRequest((ChatMessage.text("user", "hello"),))


@pytest.fixture
def llm():
    with FakeLLM() as fake:
        yield fake


@pytest.fixture
def call(project, llm, monkeypatch):
    """Make one call; gives the reply or the error."""
    monkeypatch.setattr("targets.gateway.FIRST_PAUSE", 0.01)
    config = DeploymentConfig.of(make_deployment(project, llm.url))

    async def once():
        gateway = Gateway(lambda _pk, _changed: None)
        try:
            return await gateway.model(config).complete(REQUEST)
        except ModelError as failure:
            return failure
        finally:
            await gateway.close()

    return lambda: asyncio.run(once())


def completion(**fields):
    return json.dumps(
        {"choices": [{"message": {"content": "x", **fields}, "finish_reason": "stop"}]}
    ).encode()


def test_a_huge_answer_is_not_read(call, llm):
    llm.script = lambda _b, _n: Answer(raw=b'{"choices": "' + b"a" * 9_000_000 + b'"}')
    failure = call()
    assert failure.code == "too_large"
    assert failure.permanent


def test_a_compressed_bomb_is_refused(call, llm):
    bomb = gzip.compress(completion(content="a" * 30_000_000))
    assert len(bomb) < 100_000
    llm.script = lambda _b, _n: Answer(raw=bomb, headers={"Content-Encoding": "gzip"})
    assert call().code == "too_large"


@pytest.mark.parametrize("header", ["nan", "inf", "-inf", "1e999", "soon", "-5"])
def test_a_senseless_retry_after_does_not_stop_the_loop(call, llm, header, monkeypatch):
    monkeypatch.setattr("targets.gateway.LONGEST_HOLD", 0.05)

    def script(_body, number):
        busy = error(429, "Slow down.")
        busy.headers["Retry-After"] = header
        return busy if number == 0 else verdict(4)

    llm.script = script
    started = time.monotonic()
    assert "4" in call().text
    assert time.monotonic() - started < 5


def test_a_call_ends_in_time_whatever_the_server_does(call, llm, settings):
    settings.MODEL_TIMEOUT_SECONDS = 0.4
    llm.script = lambda _b, _n: Answer("late", delay=2)
    started = time.monotonic()
    assert call().code == "timeout"
    assert time.monotonic() - started < 4
    assert len(llm.calls) == 2


@pytest.mark.parametrize("count", [2**64 - 1, 2**62, -1, 1.5, "12", None, True])
def test_a_senseless_token_count_is_unknown(call, llm, count):
    body = {
        "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": count, "completion_tokens": 1},
    }
    llm.script = lambda _b, _n: Answer(body=body)
    usage = call().usage
    assert (usage.prompt_tokens, usage.cost) == (0, None)


def test_tool_calls_that_are_none_are_left_out_and_name_no_blob(call, llm):
    calls = ["a", None, {"function": "x"}, {"$blob": "0" * 64, "mime": "image/png"}]
    llm.script = lambda _b, _n: Answer(raw=completion(tool_calls=calls))
    reply = call()
    assert len(reply.tool_calls) == 2
    assert "$blob" not in json.dumps(reply.tool_calls)


def test_a_broken_header_is_a_clear_error_and_the_key_stays_out_of_the_log(
    call, llm, caplog
):
    def broken(handler, _body, _answer):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nBad Header\x01: x\r\n\r\n{}")
        handler.close_connection = True

    llm._send = broken
    with caplog.at_level(logging.DEBUG):
        failure = call()
    assert isinstance(failure, ModelError)
    assert "sk-test-0123456789abcdef" not in caplog.text + str(failure)
