"""Asking the target: from a row and a prompt template to an output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.data.chat import (
    ChatMessage,
    ChatModel,
    ChatReply,
    ChatRequest,
    MediaPart,
    ModelError,
    Part,
    Role,
    TextPart,
)
from assay.data.jsonx import JSON, JSONObject
from assay.data.messages import Message, is_messages, normalise, tool_line
from assay.data.paths import MISSING, resolve
from assay.data.template import join_text, only_placeholder, render
from assay.running.spec import TargetSpec


@dataclass(frozen=True, slots=True)
class Generated:
    """What the target gave. `output` is what `sample.…` paths reach into."""

    output: JSONObject
    reply: ChatReply


def build_request(target: TargetSpec, item: Mapping[str, JSON]) -> ChatRequest:
    """The call for one row. Raises `ModelError` `empty_prompt` when nothing is left.

    Values of the row stay inside the message that their placeholder stands in: text
    that looks like a role or a template is only text.
    """
    scope: dict[str, JSON] = {"item": dict(item)}
    messages = []
    system = render(target.system_prompt, scope)
    if system:
        messages.append(ChatMessage("system", system))
    conversation = conversation_of(target.user_prompt, scope)
    if conversation:
        return _request(target, [*messages, *conversation])
    user = render(target.user_prompt, scope)
    if not any(isinstance(p, MediaPart) or p.text.strip() for p in user):
        raise ModelError(
            "empty_prompt",
            "The prompt is empty for this row: its columns have no value.",
            permanent=True,
        )
    return _request(target, [*messages, ChatMessage("user", user)])


def conversation_of(template: str, scope: Mapping[str, JSON]) -> list[ChatMessage]:
    """The turns of a chat column when the prompt is that column and nothing else.

    Turns of tools and what cannot be sent are told as text of the agent.
    """
    path = only_placeholder(template)
    value = resolve(path, scope) if path else MISSING
    if value is MISSING or not is_messages(value):
        return []
    roles: dict[str, Role] = {"system": "system", "developer": "system", "user": "user"}
    turns = []
    for message in normalise(value):
        parts = message_parts(message)
        if parts:
            turns.append(ChatMessage(roles.get(message.role, "assistant"), parts))
    return turns


def message_parts(message: Message) -> tuple[Part, ...]:
    """What of a message can be sent: text and media; tool calls as lines of text."""
    parts: list[Part] = []
    for content in message.content:
        if isinstance(content, (TextPart, MediaPart)):
            parts.append(content)
        else:
            parts.append(TextPart(f"{tool_line(content)}\n"))
    return join_text(parts)


def _request(target: TargetSpec, messages: list[ChatMessage]) -> ChatRequest:
    return ChatRequest(
        messages=tuple(messages),
        max_tokens=target.max_tokens,
        temperature=target.temperature,
        top_p=target.top_p,
        seed=target.seed,
    )


async def generate(
    model: ChatModel, target: TargetSpec, item: Mapping[str, JSON], *, repeat: int = 0
) -> Generated:
    """Call the target once. Raises `ModelError`, also when it answers nothing."""
    request = build_request(target, item)
    if repeat:
        request = _with_repeat(request, repeat)
    reply = await model.complete(request)
    text = reply.text or reply.refusal or ""
    if not text.strip() and not reply.tool_calls:
        reason = "it was cut off" if reply.finish_reason == "length" else "no text"
        raise ModelError(
            "empty_answer",
            f"The model answered nothing ({reason}).",
            permanent=True,
            details={"finish_reason": reply.finish_reason},
            reply=reply,
        )
    return Generated(output_of(reply, text), reply)


def _with_repeat(request: ChatRequest, repeat: int) -> ChatRequest:
    return ChatRequest(
        request.messages,
        request.max_tokens,
        request.temperature,
        request.top_p,
        request.seed,
        request.schema,
        repeat,
    )


def output_of(reply: ChatReply, text: str) -> JSONObject:
    """`output_text`, `output_items` (an assistant message) and `tool_calls`."""
    calls: list[JSON] = list(reply.tool_calls)
    message: JSONObject = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    output: JSONObject = {"output_text": text, "output_items": [message]}
    if calls:
        output["tool_calls"] = calls
    return output


def prompt_text(request: ChatRequest) -> str:
    """The text of a request, for estimates and previews; media by name."""
    lines = []
    for message in request.messages:
        for part in message.parts:
            text = part.text if isinstance(part, TextPart) else f"[{part.ref.mime}]"
            lines.append(text)
    return "\n".join(lines)
