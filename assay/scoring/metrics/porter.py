"""The Porter stemmer (Porter, 1980) with the departures that METEOR's reference uses.

Those are: a few irregular forms, "ies" and "ied" of four letters keep the e, a final
y turns to i only after a consonant, "bli" takes the place of "abli", the endings
"fulli" and "logi", and two-letter words count as short. Words of one or two letters
stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_IRREGULAR = {
    form: stem
    for stem, forms in {
        "sky": ("sky", "skies"),
        "die": ("dying",),
        "lie": ("lying",),
        "tie": ("tying",),
        "news": ("news",),
        "inning": ("innings", "inning"),
        "outing": ("outings", "outing"),
        "canning": ("cannings", "canning"),
        "howe": ("howe",),
        "proceed": ("proceed",),
        "exceed": ("exceed",),
        "succeed": ("succeed",),
    }.items()
    for form in forms
}

_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment"),
    *("ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def _shape(word: str) -> str:
    """`word` with each letter replaced by c (consonant) or v (vowel)."""
    shape: list[str] = []
    for letter in word:
        if letter == "y":
            shape.append("v" if shape and shape[-1] == "c" else "c")
        else:
            shape.append("v" if letter in "aeiou" else "c")
    return "".join(shape)


def _measure(stem: str) -> int:
    """How often a consonant follows a vowel: the m of the algorithm."""
    return _shape(stem).count("vc")


def _has_vowel(stem: str) -> bool:
    return "v" in _shape(stem)


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """Ends in consonant, vowel, consonant other than w, x and y."""
    shape = _shape(word)
    if len(word) == 2:
        return shape == "vc"
    return shape.endswith("cvc") and word[-1] not in "wxy"


def _step_1a(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return _mend(stem) if _has_vowel(stem) else word
    return word


def _mend(stem: str) -> str:
    """Give back what -ed or -ing had taken from the stem."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    if _measure(stem) == 1 and _ends_short(stem):
        return stem + "e"
    return stem


def _step_1c(word: str) -> str:
    stem = word[:-1]
    if word.endswith("y") and len(stem) > 1 and _shape(stem)[-1] == "c":
        return stem + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if word.endswith("logi"):
        # The l belongs to the stem whose measure counts.
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_first(word, _STEP_2)


def _replace_first(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """Apply the first rule whose ending fits; it may leave the word as it is."""
    for ending, replacement in rules:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + replacement if _measure(stem) > 0 else word
    return word


def _step_3(word: str) -> str:
    return _replace_first(word, _STEP_3)


def _step_4(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            if ending == "ion" and not stem.endswith(("s", "t")):
                return word
            return stem if _measure(stem) > 1 else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short(stem)):
            word = stem
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


_STEPS: tuple[Callable[[str], str], ...] = (
    _step_1a,
    _step_1b,
    _step_1c,
    _step_2,
    _step_3,
    _step_4,
    _step_5,
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of an English word, in lower case."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in _STEPS:
        word = step(word)
    return word
