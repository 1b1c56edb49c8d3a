"""Sentences of the library in the reader's language."""

from __future__ import annotations

from django.utils.translation import gettext

from assay.data.text import Sentence


def say(sentence: Sentence) -> str:
    """The sentence, translated when the catalogue has it."""
    text = gettext(sentence.message)
    return text % sentence.params if sentence.params else text
