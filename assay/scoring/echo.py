"""Whether a judge's answer is its own, or words of the material that it was given."""

from __future__ import annotations

from collections.abc import Sequence

from assay.data.chat import ChatReply, Part, TextPart
from assay.data.jsonx import canonical
from assay.scoring.answers import Invalid, find_objects, read_answer

LEAST = 24
"""Shorter words stand in texts by chance: "4", "Score: 4"."""


def is_echo(reply: ChatReply, material: Sequence[Part], code: str) -> bool:
    """True when what `reply` says stands word for word in `material`, or between
    fences with its `code`.

    Of an answer with objects each object is looked for, as text and as a value;
    of an answer in words the whole of it.
    """
    answer = read_answer(reply)
    if isinstance(answer, Invalid):
        return False
    if code in answer.text:
        return True
    texts = [part.text for part in material if isinstance(part, TextPart)]
    said = (reply.text or "").strip()
    if len(said) >= LEAST and any(said in text for text in texts):
        return True
    if not answer.objects:
        return False
    mine = {canonical(item) for item in answer.objects}
    return any(
        canonical(item) in mine
        for text in texts
        if any(all(key in text for key in item) for item in answer.objects)
        for item in find_objects(text).objects
    )
