"""Which failures are tried again, which are final, and what people read."""

from __future__ import annotations

import email.utils
import socket
import zlib
from time import monotonic, time

import aiohttp
import httpx2
import openai
import pytest
from aiohttp.http_exceptions import ContentEncodingError

from assay.data.chat import ModelError
from targets import failures
from targets.gateway import _retry_after
from tests.fakes.llm import Answer, FakeLLM, error, verdict
from tests.targets.conftest import KEY, say


def first(*answers: Answer):
    """These answers in turn, then a good one."""
    return lambda _body, n: answers[n] if n < len(answers) else verdict()


def always(answer: Answer):
    return lambda _body, _n: answer


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
def test_temporary_failures_are_tried_again(lab, status):
    with FakeLLM(first(error(status, "busy"), error(status, "busy"))) as fake:
        assert lab.one(fake.url).text
    assert len(fake.calls) == 3


def test_a_cut_connection_is_tried_again(lab):
    with FakeLLM(first(Answer(cut=True))) as fake:
        assert lab.one(fake.url).text
    assert len(fake.calls) == 2


def test_a_slow_answer_is_tried_again(lab, settings):
    settings.MODEL_TIMEOUT_SECONDS = 0.3
    with FakeLLM(first(Answer(delay=1.0))) as fake:
        assert lab.one(fake.url).text


def test_five_tries_are_the_end(lab):
    with (
        FakeLLM(always(error(503, "Overloaded"))) as fake,
        pytest.raises(ModelError) as caught,
    ):
        lab.one(fake.url)
    assert len(fake.calls) == 5
    assert caught.value.code == "server_error"
    assert not caught.value.stops_run
    assert "All 5 tries failed. It said: Overloaded" in caught.value.sentence


FINAL = [
    (error(400, "Bad"), "bad_request", False),
    (error(401, "Incorrect API key"), "key_refused", True),
    (error(402, "Insufficient Balance"), "quota_used_up", True),
    (error(403, "Forbidden"), "key_refused", True),
    (error(404, "Not Found"), "not_found", True),
    (
        error(404, "The model `x` does not exist", code="model_not_found"),
        "model_unknown",
        True,
    ),
    (
        error(404, "The API deployment does not exist.", code="DeploymentNotFound"),
        "model_unknown",
        True,
    ),
    (error(404, 'model "x" not found, try pulling it first'), "model_unknown", True),
    (error(400, "x is not a valid model ID"), "model_unknown", True),
    (error(400, "Too long", code="context_length_exceeded"), "too_long", False),
    (error(413, "Payload too large"), "too_long", False),
    (error(400, "Filtered", code="content_filter"), "content_filter", False),
    (
        error(429, "You exceeded your current quota", code="insufficient_quota"),
        "quota_used_up",
        True,
    ),
    (
        error(429, "You exceeded your quota", type="insufficient_quota"),
        "quota_used_up",
        True,
    ),
]


@pytest.mark.parametrize(("answer", "code", "stops"), FINAL)
def test_final_failures_are_not_tried_again(lab, answer, code, stops):
    with FakeLLM(always(answer)) as fake, pytest.raises(ModelError) as caught:
        lab.one(fake.url)
    assert len(fake.calls) == 1
    assert (caught.value.code, caught.value.stops_run) == (code, stops)
    assert caught.value.permanent


def test_retry_after_is_honoured_by_all_calls(lab):
    limited = error(429, "Slow down")
    limited.headers = {"Retry-After": "1"}
    times = []

    def script(_body, n):
        times.append(monotonic())
        return limited if n == 0 else verdict()

    with FakeLLM(script) as fake:
        lab.ask(fake.url, *[say(str(n)) for n in range(3)], limits={"concurrency": 1})
    assert len(times) == 4
    assert times[1] - times[0] >= 0.95


class _Response:
    def __init__(self, **headers):
        self.headers = {k.replace("_", "-"): v for k, v in headers.items()}


class _Refusal:
    def __init__(self, **headers):
        self.response = _Response(**headers)


def test_forms_of_retry_after():
    soon = email.utils.formatdate(time() + 7, usegmt=True)
    assert _retry_after(_Refusal(retry_after="2.5")) == 2.5
    assert _retry_after(_Refusal(retry_after="86400")) == 120
    assert _retry_after(_Refusal(retry_after_ms="1500")) == 1.5
    assert 4 < _retry_after(_Refusal(retry_after=soon)) <= 7
    assert _retry_after(_Refusal(retry_after="soon")) is None
    assert _retry_after(_Refusal()) is None


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fails(lab, url, **changes) -> ModelError:
    with pytest.raises(ModelError) as caught:
        lab.one(url, **changes)
    return caught.value


def test_a_dead_endpoint_says_so(lab):
    url = f"http://127.0.0.1:{closed_port()}/v1"
    failure = fails(lab, url)
    assert (failure.code, failure.stops_run) == ("unreachable", True)
    assert (
        failure.sentence
        == f"Nothing answers at {url}. Check that the server runs there."
    )


def test_an_unknown_name_says_so(lab):
    failure = fails(lab, "http://nowhere.invalid/v1")
    assert failure.code == "unreachable"
    assert "nowhere.invalid is not known" in failure.sentence


def test_tls_to_a_plain_server_says_so(lab):
    with FakeLLM() as fake:
        failure = fails(lab, fake.url.replace("http:", "https:"))
    assert failure.code == "unreachable"
    assert "does not speak TLS" in failure.sentence


def test_a_server_that_always_cuts_says_so(lab):
    with FakeLLM(always(Answer(cut=True))) as fake:
        failure = fails(lab, fake.url)
    assert failure.code == "connection_cut"
    assert "closed the connection" in failure.sentence


def test_a_silent_server_is_a_timeout(lab, settings):
    settings.MODEL_TIMEOUT_SECONDS = 0.1
    with FakeLLM(always(Answer(delay=0.4))) as fake:
        failure = fails(lab, fake.url)
    assert failure.code == "timeout"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"<html><body>Welcome</body></html>", "begins with: <html>"),
        (b"", "It is empty"),
        (b"[]", "begins with: []"),
        (b'{"choices": []}', "begins with"),
        (b'{"choices": ["x"]}', "begins with"),
        (b'{"object": "list", "data": []}', "begins with"),
        (b"\xff\xfe\x00", "not a chat completion"),
    ],
)
def test_an_answer_that_is_no_completion_says_so(lab, raw, shown):
    with FakeLLM(always(Answer(raw=raw))) as fake:
        failure = fails(lab, fake.url)
    assert failure.code == "not_an_answer"
    assert shown in failure.sentence
    assert len(fake.calls) == 1


def test_an_error_inside_a_good_answer_is_an_error(lab):
    body = {"error": {"code": 429, "message": "Provider returned error"}}
    with FakeLLM(always(Answer(body=body))) as fake:
        failure = fails(lab, fake.url)
    assert failure.code == "error_in_answer"
    assert "Provider returned error" in failure.sentence


def test_an_answer_without_text_is_handed_on(lab):
    answer = Answer(None, finish_reason="length")
    with FakeLLM(always(answer)) as fake:
        reply = lab.one(fake.url)
    assert (reply.text, reply.finish_reason) == (None, "length")


def test_a_text_in_parts_is_joined(lab):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    with FakeLLM(always(Answer(parts))) as fake:
        assert lab.one(fake.url).text == "ab"


def test_reported_usage_is_priced(lab):
    with FakeLLM() as fake:
        usage = lab.one(fake.url, price_input=1.0, price_output=10.0).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (100, 20)
    assert usage.cost == pytest.approx((100 * 1 + 20 * 10) / 1e6)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, "many", [1]])
def test_usage_that_is_missing_costs_nobody_knows_what(lab, usage):
    with FakeLLM(always(Answer(usage=usage))) as fake:
        found = lab.one(fake.url).usage
    assert (found.prompt_tokens, found.cost, found.calls) == (0, None, 1)


def test_without_prices_the_cost_is_not_known(lab):
    with FakeLLM() as fake:
        assert lab.one(fake.url, price_input=None).usage.cost is None


def test_lone_surrogates_can_be_sent(lab):
    with FakeLLM() as fake:
        reply = lab.one(fake.url, say("a\ud800b"))
    assert fake.calls[0]["messages"][0]["content"] == "a\ufffdb"
    assert reply.sent["messages"][0]["content"] == "a\ufffdb"


def test_redirects_are_not_followed(lab):
    with FakeLLM() as elsewhere:
        moved = Answer(
            status=307,
            headers={"Location": f"{elsewhere.url}/chat/completions?token={KEY}"},
        )
        with FakeLLM(always(moved)) as fake:
            failure = fails(lab, fake.url)
    assert failure.code == "redirected"
    assert "127.0.0.1" not in failure.sentence
    assert KEY not in failure.sentence
    assert elsewhere.calls == []


REDIRECTED = (
    "The server redirects to another address. Enter the address that it should be."
)


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest",
        "http://10.0.0.7:8000/v1",
        "http://[::1]/v1",
        "http://[::ffff:10.0.0.7]/v1",
        "http://127.1/v1",
        "http://2130706433/v1",
        "http://db/v1",
        "http://metadata.google.internal/v1",
        "http://api.example.com@10.0.0.7/v1",
        "http://[/v1",
        "http://h.example.com:99999/",
        "file://api.example.com/etc",
        "/v2",
        "",
    ],
)
def test_a_redirect_names_no_private_address(lab, target):
    moved = Answer(status=307, headers={"Location": target})
    with FakeLLM(always(moved)) as fake:
        failure = fails(lab, fake.url)
    assert (failure.code, failure.sentence) == ("redirected", REDIRECTED)


def test_a_redirect_to_a_public_address_names_it(lab):
    target = "https://u:p@api.example.com:8443/v1/chat/completions?a=b"
    moved = Answer(status=308, headers={"Location": target})
    with FakeLLM(always(moved)) as fake:
        failure = fails(lab, fake.url)
    assert "to https://api.example.com:8443/v1. Enter" in failure.sentence


def test_a_content_filter_says_so(lab):
    refused = error(400, "Long talk", code="content_filter")
    with FakeLLM(always(refused)) as fake:
        failure = fails(lab, fake.url)
    blocked = "The content filter of the server blocked this request."
    assert failure.sentence == f"{blocked} It said: Long talk"
    assert failure.details["message"] == "Long talk"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ({"reason": "bad", "ok": None}, '{"reason": "bad", "ok": null}'),
        ({"message": {"é": True}}, '{"é": true}'),
        ([{"loc": "x", "type": None}], '{"loc": "x", "type": null}'),
        (["a", False], "a; false"),
    ],
)
def test_a_message_that_is_no_text_is_shown_as_json(lab, message, shown):
    with FakeLLM(always(error(422, message))) as fake:
        failure = fails(lab, fake.url)
    assert failure.sentence.endswith(f"It said: {shown}")


@pytest.mark.parametrize(
    "cause",
    [
        httpx2.DecodingError("incorrect header check"),
        ContentEncodingError("Can not decode content-encoding: gzip"),
        zlib.error("incorrect header check"),
    ],
)
def test_an_answer_that_cannot_be_decoded_says_so(cause):
    failed = openai.APIConnectionError(request=httpx2.Request("POST", "http://h/v1"))
    failed.__cause__ = aiohttp.ClientPayloadError("not completed")
    failed.__cause__.__cause__ = cause
    failure = failures.from_connection(failed, "http://h/v1")
    assert failure.sentence == "The server's answer cannot be read."
    assert failure.permanent
