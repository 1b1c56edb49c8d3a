"""English synonyms from WordNet 3.0, with its rules for inflected forms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from assay.data.tables import read_table

# How WordNet takes endings off, by part of speech: noun, verb, adjective, adverb.
_DETACHMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


@dataclass(frozen=True, slots=True)
class _WordNet:
    """Per part of speech: synsets of each lower-case lemma, and irregular forms."""

    synsets: dict[str, dict[str, list[str]]]
    irregular: dict[str, dict[str, list[str]]]


@cache
def _wordnet() -> _WordNet:
    synsets: dict[str, dict[str, list[str]]] = {pos: {} for pos in _DETACHMENTS}
    irregular: dict[str, dict[str, list[str]]] = {pos: {} for pos in _DETACHMENTS}
    for line in read_table("wordnet"):
        code, _, words = line.partition(" ")
        if code[0] == "!":
            form, *bases = words.split()
            irregular[code[1]][form] = bases
            continue
        for lemma in {word.lower() for word in words.split()}:
            synsets[code].setdefault(lemma, []).append(words)
    return _WordNet(synsets, irregular)


@lru_cache(maxsize=65536)
def synonyms(word: str) -> frozenset[str]:
    """`word` itself and the one-word lemmas of all its synsets."""
    net = _wordnet()
    found = {word}
    for pos, lemmas in net.synsets.items():
        for base in _bases(word.lower(), pos, lemmas, net.irregular[pos]):
            for words in lemmas[base]:
                found.update(words.split())
    return frozenset(found)


def _bases(
    form: str, pos: str, lemmas: dict[str, list[str]], irregular: dict[str, list[str]]
) -> list[str]:
    """The lemmas that `form` may be a form of; one ending is taken off, not more."""
    if form in irregular:
        return _known([form, *irregular[form]], lemmas)
    return _known([form, *_detached(form, pos)], lemmas)


def _detached(form: str, pos: str) -> list[str]:
    return [
        form.removesuffix(ending) + replacement
        for ending, replacement in _DETACHMENTS[pos]
        if form.endswith(ending)
    ]


def _known(forms: Iterable[str], lemmas: dict[str, list[str]]) -> list[str]:
    return [form for form in dict.fromkeys(forms) if form in lemmas]
