from __future__ import annotations

import pytest

from assay.data.profile import Profiler, kind_of, messages_of

IMAGE = {"$blob": "a" * 64, "mime": "image/png", "size": 10}
AUDIO = {"$blob": "b" * 64, "mime": "audio/wav", "size": 10}
OTHER = {"$blob": "c" * 64, "mime": "application/octet-stream", "size": 10}
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": []}]
TOOLS = [{"name": "book", "description": "Books a table", "parameters": {}}]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "empty"),
        ("", "empty"),
        (" ", "text"),
        (0, "number"),
        (False, "boolean"),
        ([], "json"),
        ({}, "json"),
        (CHAT, "chat"),
        ({"messages": CHAT}, "chat"),
        ([{"role": "clown", "content": "x"}], "json"),
        ([{"inputs": 1}], "json"),
        (TOOLS, "tools"),
        ([{"type": "function", "function": TOOLS[0]}], "tools"),
        (IMAGE, "image"),
        ({"url": IMAGE}, "image"),
        (AUDIO, "audio"),
        (OTHER, "json"),
    ],
)
def test_what_a_value_is(value, kind):
    assert kind_of(value) == kind


def profile(*rows):
    profiler = Profiler()
    for row in rows:
        profiler.add(row)
    return {c["name"]: c for c in profiler.columns()}


def test_a_column_counts_what_is_filled():
    columns = profile({"a": "x", "b": None}, {"a": ""}, {"a": "y", "b": 1})
    assert columns["a"] == {"name": "a", "kind": "text", "filled": 2, "sample": "x"}
    assert columns["b"] == {"name": "b", "kind": "number", "filled": 1, "sample": "1"}


def test_columns_keep_the_order_in_which_they_appear():
    assert list(profile({"b": 1}, {"a": 1, "b": 2})) == ["b", "a"]


def test_different_kinds_make_a_mixed_column():
    assert profile({"a": "x"}, {"a": 1})["a"]["kind"] == "mixed"


def test_images_and_links_make_an_image_column():
    assert profile({"a": IMAGE}, {"a": "https://x.org/y"})["a"]["kind"] == "image"
    assert profile({"a": IMAGE}, {"a": "see below"})["a"]["kind"] == "mixed"


def test_a_sample_is_short_and_storable_everywhere():
    sample = profile({"a": "x\0\ud800 \n" + "y" * 200})["a"]["sample"]
    assert len(sample) <= 80
    assert "\0" not in sample
    sample.encode()


def test_messages_are_found_one_level_down():
    assert messages_of({"messages": CHAT}) == CHAT
    assert messages_of([]) is None
    assert messages_of("text") is None


@pytest.mark.parametrize("role", [[], {}, None, 1, "stranger"])
def test_a_message_of_no_role_is_json(role):
    assert kind_of([{"role": role, "content": "x"}]) == "json"
