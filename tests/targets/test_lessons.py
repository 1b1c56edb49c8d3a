"""What a model refuses is learned from its refusal, once."""

from __future__ import annotations

import pytest

from assay.data.chat import ModelError
from tests.fakes.llm import Answer, FakeLLM, error, verdict
from tests.targets.conftest import config, say

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}


def refusing(names: dict[str, Answer]):
    """A script that refuses each named parameter with its answer."""

    def script(body, _n):
        return next((a for name, a in names.items() if name in body), verdict())

    return script


def openai_says(name: str) -> Answer:
    return error(
        400,
        f"Unsupported parameter: '{name}' is not supported with this model.",
        type="invalid_request_error",
        param=name,
        code="unsupported_parameter",
    )


SHAPES = {
    "openai parameter": openai_says("temperature"),
    "openai value": error(
        400,
        "Unsupported value: 'temperature' does not support 0 with this model. "
        "Only the default (1) value is supported.",
        param="temperature",
        code="unsupported_value",
    ),
    "azure": error(400, "Unrecognized request argument supplied: temperature"),
    "vllm 400": Answer(
        status=400,
        body={
            "object": "error",
            "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'temperature'), "
            "'msg': 'Extra inputs are not permitted', 'input': 0.0}]",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "fastapi 422": Answer(
        status=422,
        body={
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", "temperature"],
                    "msg": "Extra inputs are not permitted",
                }
            ]
        },
    ),
    "mistral 422": Answer(
        status=422,
        body={
            "object": "error",
            "message": {
                "detail": [
                    {"loc": ["body", "temperature"], "msg": "Extra inputs are not "}
                ]
            },
            "type": "invalid_request_error",
        },
    ),
    "litellm": error(
        400,
        "litellm.UnsupportedParamsError: openai does not support parameters: "
        "['temperature'], for model=o1. To drop these, set `litellm.drop_params=True`",
        type="None",
        param="None",
        code="400",
    ),
    "litellm value": error(
        400,
        "litellm.UnsupportedParamsError: gpt-5-nano doesn't support temperature=0.1 "
        "while reasoning is active. Only temperature=1 is supported",
        param=None,
        code="400",
    ),
    "xai": Answer(
        status=400,
        body={
            "code": "Client specified an invalid argument",
            "error": "Argument not supported on this model: temperature",
        },
    ),
    "anthropic": error(400, "`temperature` is deprecated for this model."),
    "ollama": error(400, "unknown field temperature", param=None, code=None),
    "list": Answer(
        status=400,
        body=[{"error": {"code": 400, "message": "Unknown name temperature"}}],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_refused_parameter_is_learned_in_every_known_shape(lab, shape):
    answer = SHAPES[shape]
    if shape == "mistral 422":
        answer.body["message"]["detail"][0]["msg"] = "Extra inputs are not permitted"
    with FakeLLM(refusing({"temperature": answer})) as fake:
        reply = lab.one(fake.url, say(temperature=0.0, seed=1))
    assert reply.text
    assert [sorted({"temperature", "seed"} & c.keys()) for c in fake.calls] == [
        ["seed", "temperature"],
        ["seed"],
    ]
    assert lab.learned == [{"refused": ["temperature"]}]
    assert "temperature" not in reply.sent


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed"])
def test_each_parameter_is_left_out_once_refused(lab, name):
    with FakeLLM(refusing({name: openai_says(name)})) as fake:
        lab.one(fake.url, say(**{name: 1}))
    assert name in fake.calls[0]
    assert name not in fake.calls[1]


def test_camel_case_names_are_understood(lab):
    answer = error(400, "Argument not supported on this model: topP")
    with FakeLLM(refusing({"top_p": answer})) as fake:
        lab.one(fake.url, say(top_p=0.5))
    assert lab.learned == [{"refused": ["top_p"]}]
    assert len(fake.calls) == 2


def test_max_tokens_becomes_max_completion_tokens(lab):
    answer = error(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        param="max_tokens",
        code="unsupported_parameter",
    )
    with FakeLLM(refusing({"max_tokens": answer})) as fake:
        lab.one(fake.url, say(max_tokens=50))
    assert fake.calls[1]["max_completion_tokens"] == 50
    assert "max_tokens" not in fake.calls[1]


def test_a_server_that_knows_neither_limit_gets_none(lab):
    script = refusing(
        {
            "max_tokens": error(400, "Unknown parameter: max_tokens"),
            "max_completion_tokens": error(
                400, "Unknown parameter: max_completion_tokens"
            ),
        }
    )
    with FakeLLM(script) as fake:
        lab.one(fake.url, say(max_tokens=50))
    assert not {"max_tokens", "max_completion_tokens"} & fake.calls[2].keys()


def test_two_parameters_that_exclude_each_other_lose_one(lab):
    said = "`temperature` and `top_p` cannot both be specified for this model."

    def script(body, _n):
        both = {"temperature", "top_p"} <= body.keys()
        return error(400, said) if both else verdict()

    with FakeLLM(script) as fake:
        lab.one(fake.url, say(temperature=0.0, top_p=0.5))
    assert "temperature" in fake.calls[1]


FORMATS = {
    "openai": error(
        400,
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported "
        "with this model.",
        param="response_format",
    ),
    "openai schema": error(
        400,
        "Invalid schema for response_format 'verdict': In context=(), 'minimum' is "
        "not permitted.",
        param="response_format",
    ),
    "deepseek": error(
        400, "This response_format type is unavailable now", code="invalid_request"
    ),
    "deepseek 422": error(
        422,
        "Failed to deserialize the JSON body into the target type: response_format: "
        "response_format.type `json_schema` is unavailable now at line 1 column 1193",
    ),
    "vllm": error(400, "Failed to compile the guided decoding grammar"),
}


@pytest.mark.parametrize("shape", FORMATS)
def test_a_refused_schema_becomes_json_mode(lab, shape):
    def script(body, _n):
        kind = body.get("response_format", {}).get("type")
        return FORMATS[shape] if kind == "json_schema" else verdict()

    with FakeLLM(script) as fake:
        lab.one(fake.url, say(schema=SCHEMA))
    assert fake.calls[1]["response_format"] == {"type": "json_object"}
    assert lab.learned == [{"refused": ["json_schema"], "json_schema": False}]


def test_refused_json_mode_becomes_text(lab):
    def script(body, _n):
        kind = body.get("response_format", {}).get("type")
        if kind == "json_schema":
            return FORMATS["openai"]
        if kind == "json_object":
            return Answer(
                status=400,
                body={
                    "error": "'response_format.type' must be 'json_schema' or 'text'"
                },
            )
        return verdict()

    with FakeLLM(script) as fake:
        reply = lab.one(fake.url, say(schema=SCHEMA))
    assert "response_format" not in fake.calls[2]
    assert reply.text
    assert lab.learned[-1]["refused"] == ["json_object", "json_schema"]


def test_calls_refused_together_all_succeed_and_teach_once(lab):
    started = []

    def script(body, _n):
        started.append(1)
        return openai_says("temperature") if "temperature" in body else verdict()

    requests = [say(f"row {n}", temperature=0.0) for n in range(32)]
    limits = {"concurrency": 32}
    with FakeLLM(script) as fake:
        replies = lab.ask(fake.url, *requests, limits=limits)
    assert len(replies) == 32
    assert all(reply.text for reply in replies)
    assert lab.learned == [{"refused": ["temperature"]}]


def test_rows_that_come_later_know_what_the_first_has_learned(lab):
    settings = {}

    async def work(gateway):
        cfg = config(settings["url"])
        for _ in range(5):
            await gateway.model(cfg).complete(say(temperature=0.0))

    with FakeLLM(refusing({"temperature": openai_says("temperature")})) as fake:
        settings["url"] = fake.url
        lab.run(work)
    assert len(fake.calls) == 6
    assert len(lab.learned) == 1


def test_what_is_stored_is_not_asked_for_again(lab):
    known = {"refused": ["temperature", "json_schema"]}
    with FakeLLM() as fake:
        lab.one(fake.url, say(temperature=0.0, schema=SCHEMA), capabilities=known)
    assert "temperature" not in fake.calls[0]
    assert fake.calls[0]["response_format"] == {"type": "json_object"}


def test_a_new_test_starts_a_new_account(lab):
    first = {"refused": ["seed"], "since": "a"}
    second = {"since": "b"}

    async def work(gateway):
        for known in (first, second):
            model = gateway.model(config(fake.url, capabilities=known))
            await model.complete(say(seed=1))

    with FakeLLM() as fake:
        lab.run(work)
    assert ["seed" in call for call in fake.calls] == [False, True]


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens is too large: 5000. This model supports at most 4096 tokens",
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2",
        "This model's maximum context length is 8192 tokens.",
        "messages: text is required",
    ],
)
def test_a_wrong_value_teaches_nothing(lab, said):
    with FakeLLM(lambda _b, _n: error(400, said)) as fake, pytest.raises(ModelError):
        lab.one(fake.url, say(temperature=0.0, max_tokens=5, schema=SCHEMA))
    assert lab.learned == []
    assert len(fake.calls) == 1


def test_a_server_that_refuses_everything_is_not_asked_for_ever(lab):
    with (
        FakeLLM(lambda _b, _n: error(400, "Unsupported: seed, top_p")) as fake,
        pytest.raises(ModelError) as caught,
    ):
        lab.one(fake.url, say(seed=1, top_p=0.5))
    assert caught.value.code == "bad_request"
    assert len(fake.calls) == 3
