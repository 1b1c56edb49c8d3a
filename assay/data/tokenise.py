"""Texts to tokens, for the metrics that compare words.

Two families. `foundry` cuts as the reference implementation does, so that its scores
are reproduced to the last digit; it is made for English and loses most other
scripts. `unicode` treats all scripts alike. `auto` takes `foundry` when both texts
are ASCII and neither loses all its tokens by it, and `unicode` otherwise.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias
from xml.sax.saxutils import unescape

from assay.data.punkt import split_sentences
from assay.data.tables import read_table
from assay.data.treebank import split_words

TokenizerName = Literal["auto", "foundry", "unicode"]
UsedTokenizer = Literal["foundry", "unicode"]
Tokens: TypeAlias = list[str]
TOKENIZERS: tuple[TokenizerName, ...] = ("auto", "foundry", "unicode")

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NOT_LATIN = re.compile(r"[^a-z0-9]+")
_ENTITIES = {"&apos;": "'", "&quot;": '"', "&#124;": "|", "&#91;": "[", "&#93;": "]"}
_ASCII_RUN = re.compile(r"([\x00-\x7f]+)")
# Scripts written without spaces between words: a character is the unit.
_PER_CHARACTER = re.compile(
    "["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b"
    "\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "]"
)


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The tokens of a response and of its ground truth, and how they were cut."""

    response: Tokens
    truth: Tokens
    used: UsedTokenizer


def f1_tokens(text: str) -> Tokens:
    """Lower case, no ASCII punctuation, no English articles, cut at blanks."""
    bare = text.lower().translate(_NO_PUNCTUATION)
    return _ARTICLE.sub(" ", bare).split()


def rouge_tokens(text: str) -> Tokens:
    """Lower case, runs of a-z and 0-9; every other character separates."""
    return _NOT_LATIN.sub(" ", text.lower()).split()


def word_tokens(text: str) -> Tokens:
    """English sentences and Treebank words for ASCII texts, else the NIST rules."""
    if not text.isascii():
        return nist_tokens(text)
    return [w for sentence in split_sentences(text) for w in split_words(sentence)]


def nist_tokens(text: str) -> Tokens:
    """The international tokenisation of the NIST machine translation evaluations.

    Runs of ASCII stand apart from other characters, symbols stand alone, and
    punctuation leaves the numbers beside it. The character lists are those of the
    reference and are incomplete, so accented letters become tokens of their own.
    """
    number_mark, mark_number, symbol = _nist_patterns()
    text = text.replace("<skipped>", "").replace("\u2028", " ")
    text = unescape(text, _ENTITIES)
    text = _ASCII_RUN.sub(r" \1 ", text)
    text = number_mark.sub(r"\1 \2 ", text)
    text = mark_number.sub(r" \1 \2", text)
    return symbol.sub(r" \1 ", text).split()


@cache
def _nist_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    classes = {}
    for line in read_table("characters"):
        name, *ranges = line.split()
        bounds = (part.partition("-") for part in ranges)
        classes[name] = "".join(
            f"\\U{int(low, 16):08x}-\\U{int(high or low, 16):08x}"
            for low, _, high in bounds
        )
    number, mark = f"([{classes['Number']}])", f"([{classes['Punctuation']}])"
    return (
        re.compile(number + mark),
        re.compile(mark + number),
        re.compile(f"([{classes['Symbol']}])"),
    )


def unicode_tokens(text: str) -> Tokens:
    """Words of any script: NFKC, case folded, letters and digits by Unicode class.

    Characters of scripts written without spaces are tokens of their own, combining
    marks stay with their letter. A text without any letter or digit ("?", an emoji)
    gives its visible characters, so that it still equals itself.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    words: list[str] = []
    open_word = False
    for char in folded:
        category = unicodedata.category(char)
        if category[0] == "M" or char == "\u200d":
            if open_word or (words and category == "Mn" and words[-1]):
                words[-1] += char
        elif category[0] not in "LN":
            open_word = False
        elif _PER_CHARACTER.match(char):
            words.append(char)
            open_word = False
        elif open_word:
            words[-1] += char
        else:
            words.append(char)
            open_word = True
    return words or [c for c in folded if not c.isspace()]


def tokenise_pair(
    response: str,
    truth: str,
    foundry: Callable[[str], Tokens],
    tokenizer: TokenizerName = "auto",
) -> TokenPair:
    """Cut both texts the same way; `foundry` is the metric's own compatible way.

    Raises `ValueError` for an unknown tokenizer name.
    """
    if tokenizer not in TOKENIZERS:
        raise ValueError(f"Unknown tokenizer {tokenizer!r}.")
    if tokenizer == "foundry" or (
        tokenizer == "auto" and response.isascii() and truth.isascii()
    ):
        pair = TokenPair(foundry(response), foundry(truth), "foundry")
        if tokenizer == "foundry" or (pair.response and pair.truth):
            return pair
    return TokenPair(unicode_tokens(response), unicode_tokens(truth), "unicode")
