"""Decides whether two rows that look alike ask the same thing.

Where names, numbers or negations differ, they do not; one other word may differ when
the expected answer is the same and belongs to few rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA, Levenshtein

from assay.data.checkup.roles import Role, of_role, role_of
from assay.data.checkup.signatures import digest
from assay.data.checkup.texts import is_unspaced, joined, plain, word_set, words
from assay.data.jsonx import JSON, JSONObject
from assay.data.synonyms import synonyms

_SIMILAR = 80.0
_SAME_TEXT = 85.0
_MOST_CHARACTERS = 6_000
_MOST_CHANGED = 0.2
_LEAST_LETTERS = 8
_LEAST_UNSPACED = 5
_WORDS_FOR_A_SYNONYM = 5
_WORDS_FOR_AN_ADDITION = 6
_WORDS_FOR_ANOTHER_WORD = 10
_WORDS_WITHOUT_ANSWER = 15

# Words that carry no subject of their own: they may come, go and change.
_FUNCTION_WORDS = word_set(
    "a an the of to in on at for by with from is are was were be been do does did can "
    "could would should will shall may might that this these those which what who "
    "whom s re ve ll d m i you we it its my your our me us and also just so as if "
    "then please thanks thank hi hello hey there dear tell explain briefly short "
    "answer kindly regards cheers ok okay well now o a os as um uma de do da dos das "
    "em no na nos nas por para com que qual quais e é se eu você me olá oi bom dia "
    "tarde favor obrigado obrigada el la los las un una del al y en con lo hola "
    "buenos días gracias cuál cuáles es son su mi tu le les des du une et est sont au "
    "aux ce cet cette il bonjour merci svp quel quelle l d qu der die das den dem ein "
    "eine einen und ist sind im am zu zum zur von mit ich wie guten tag morgen hallo "
    "bitte danke и в на с у о а по за я вы ли же это здравствуйте привет пожалуйста "
    "спасибо 的 了 吗 呢 请 问 你 您 好 我 是 把 应 该 么 谢 "
    "は が を に の で と も か ね よ さ い 下 教 え て ください"
)
_NEGATIONS = word_set(
    "not no never none nor neither without except t cannot nothing nobody unless não "
    "nao nunca sem jamais nem ni sin salvo pas ne jamais sans aucun aucune rien nicht "
    "kein keine keinen nie ohne niemals не "
    "нет никогда без ни 不 没 非 未 无 ない なし لا ليس"
)
_OPPOSED = word_set(
    "before after more less most least first last second third max min maximum "
    "minimum increase decrease increases decreases highest lowest high low higher "
    "lower largest smallest left right up down in out true false yes or and all any "
    "some only both north south east west male female ascending descending always one "
    "two three four five six seven eight nine ten hot cold old new open close import "
    "export buy sell monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december "
    "red green blue black white over under above below inside outside start end"
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Near:
    """`percent` alike. `slot`: key of the text around the one word that differs."""

    percent: int
    slot: int | None = None


def main_text(values: JSONObject) -> str:
    """What a row asks: its question, else its conversation, else all other text."""
    names = of_role(values, _asking_role(values))
    return "\n".join(filter(None, (joined(values[name]) for name in names)))


def _asking_role(values: JSONObject) -> Role:
    roles: tuple[Role, ...] = ("query", "messages")
    for role in roles:
        if any(joined(values[name]).strip() for name in of_role(values, role)):
            return role
    return "other"


def answer_text(values: JSONObject) -> str:
    """What a row expects, else what it holds as the response."""
    names = of_role(values, "ground_truth")
    text = "\n".join(joined(values[name]) for name in names)
    if text.strip():
        return text
    return "\n".join(joined(values[name]) for name in of_role(values, "response"))


def compare(first: JSONObject, second: JSONObject, *, is_own: bool) -> Near | None:
    """How alike two rows are, or None when they ask different things.

    `is_own`: the answer that both share belongs to few rows of the dataset.
    """
    if not _same_answer(answer_text(first), answer_text(second)):
        return None
    if not _same_rest(first, second):
        return None
    one, other = main_text(first), main_text(second)
    one_plain, other_plain = plain(one), plain(other)
    one_words, other_words = words(one_plain), words(other_plain)
    letters = "".join(one_words)
    if len(letters) < (_LEAST_UNSPACED if is_unspaced(letters) else _LEAST_LETTERS):
        return None
    if letters == "".join(other_words):
        return Near(_percent(one_plain, other_plain))
    if max(len(one), len(other)) > _MOST_CHARACTERS:
        return None
    percent = _percent(one_plain, other_plain)
    if percent < _SIMILAR:
        return None
    names = _names(one) | _names(other)
    return _judge(one_words, other_words, names, percent, is_own=is_own)


def _percent(one: str, other: str) -> int:
    """How alike two texts are that are not the same: at most 99."""
    part = slice(0, _MOST_CHARACTERS)
    return min(99, round(fuzz.ratio(one[part], other[part])))


def _names(text: str) -> frozenset[str]:
    """Plain forms of words in capitals that do not begin a sentence."""
    found = re.findall(r"(?<=[\w,;:)\"'’”»] )[^\W\d_a-z]\w*|\b[A-Z]\b", text)
    return frozenset(plain(word) for word in found if word[:1].isupper())


def _judge(
    one: list[str],
    other: list[str],
    names: frozenset[str],
    percent: int,
    *,
    is_own: bool,
) -> Near | None:
    removed, added, slot = _changes(one, other)
    longest = max(len(one), len(other))
    if max(len(removed), len(added)) > max(3, round(longest * _MOST_CHANGED)):
        return None
    removed, added = _without_pairs(removed, added, _is_spelling)
    count = longest // 2 if is_unspaced("".join(one)) else longest
    if count >= _WORDS_FOR_A_SYNONYM:
        removed, added = _without_pairs(removed, added, _are_synonyms)
    changed = [*removed, *added]
    if "ない" in "".join(changed) or any(_is_decisive(w, names) for w in changed):
        return None
    gone = [word for word in removed if not _is_function_word(word)]
    come = [word for word in added if not _is_function_word(word)]
    if not gone and not come:
        return Near(percent)
    if max(len(gone), len(come)) > max(2, longest // 8):
        return None
    if not is_own:
        is_addition = not (gone and come) and len(gone) + len(come) == 1
        is_near = is_addition and count >= _WORDS_WITHOUT_ANSWER
    elif gone and come:
        is_near = count >= _WORDS_FOR_ANOTHER_WORD
    else:
        is_near = count >= _WORDS_FOR_AN_ADDITION
    return Near(percent, slot) if is_near else None


def _changes(one: list[str], other: list[str]) -> tuple[list[str], list[str], int]:
    """Words that went, words that came, and a key of what stayed around them."""
    removed: list[str] = []
    added: list[str] = []
    kept: list[str] = []
    for step in Levenshtein.opcodes(one, other):
        if step.tag == "equal":
            kept.extend(one[step.src_start : step.src_end])
        else:
            kept.append("\0")
            removed.extend(one[step.src_start : step.src_end])
            added.extend(other[step.dest_start : step.dest_end])
    return removed, added, digest(" ".join(kept))


def _without_pairs(
    removed: list[str], added: list[str], is_pair: Callable[[str, str], bool]
) -> tuple[list[str], list[str]]:
    """Both lists without words that are one word for `is_pair`."""
    left, right = list(removed), list(added)
    for word in removed:
        twin = next((other for other in right if is_pair(word, other)), None)
        if twin is not None:
            left.remove(word)
            right.remove(twin)
    return left, right


def _are_synonyms(one: str, other: str) -> bool:
    """Two English words with a meaning in common."""
    if not (one.isascii() and other.isascii() and one.isalpha() and other.isalpha()):
        return False
    if min(len(one), len(other)) < 3 or one == other:
        return False
    return other in synonyms(one) or one in synonyms(other)


def _is_spelling(one: str, other: str) -> bool:
    """One slip of the pen, or an ending, in a word that is long enough to show it."""
    if one == other:
        return False
    if _DIGIT.search(one + other) or {one, other} & (_NEGATIONS | _OPPOSED):
        return False
    shortest = min(len(one), len(other))
    if shortest < 3 or is_unspaced(one + other):
        return False
    if _bare(one) == _bare(other):
        return True
    slips = OSA.distance(_bare(one), _bare(other), score_cutoff=2)
    # A first letter that differs makes another word: "affect", "effect".
    same_start = one[0] == other[0]
    return shortest >= 5 and same_start and slips == 1


def _bare(word: str) -> str:
    return "".join(
        c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)
    )


def _is_decisive(word: str, names: frozenset[str]) -> bool:
    """A number, a name, a negation or one of a pair of opposites."""
    if _DIGIT.search(word) or word in _NEGATIONS:
        return True
    if _is_function_word(word):
        return False
    is_letter = len(word) == 1 and not is_unspaced(word)
    return is_letter or word in names or word in _OPPOSED


def _is_function_word(word: str) -> bool:
    return word in _FUNCTION_WORDS or "\u3041" <= word <= "\u309f"


def _same_answer(one: str, other: str) -> bool:
    first, second = words(plain(one)), words(plain(other))
    if first == second:
        return True
    if not first or not second or _digits(first) != _digits(second):
        return False
    if min(len(first), len(second)) < 4:
        return False
    return fuzz.ratio(" ".join(first), " ".join(second)) >= _SAME_TEXT


def _digits(found: list[str]) -> Counter[str]:
    return Counter(word for word in found if _DIGIT.search(word))


def _same_rest(first: JSONObject, second: JSONObject) -> bool:
    """True when the columns beside question and answer hold the same in substance."""
    compared = {"id", "note", "ground_truth", _asking_role(first)}
    for name in first.keys() | second.keys():
        if role_of(name) in compared:
            continue
        if not _same_value(first.get(name), second.get(name)):
            return False
    return True


def _same_value(one: JSON, other: JSON) -> bool:
    if one == other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _same_value(value, other[key]) for key, value in one.items()
        )
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    a, b = plain(one[:_MOST_CHARACTERS]), plain(other[:_MOST_CHARACTERS])
    first, second = words(a), words(b)
    if min(len(first), len(second)) < 4:
        return a.split() == b.split()
    if first == second:
        return True
    return _digits(first) == _digits(second) and fuzz.ratio(a, b) >= _SAME_TEXT
