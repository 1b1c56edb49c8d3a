"""Finds expected answers that stand in the question."""

from __future__ import annotations

import re

from assay.data.checkup.texts import WORD, is_unspaced, plain, words

_LEAST_WORDS = 3
_LEAST_CHARACTERS = 12
_LEAST_UNSPACED = 8
_LONG_QUESTION = 120
_OPTION = re.compile(
    r"(?:^|[\s(\[,;])(?:[a-h]|[1-8]|i{1,3}|iv)[).:\]]\s{0,3}\S", re.MULTILINE
)
_CHOICE = re.compile(
    r"\b(?:or|ou|oder|или|either|which of|one of the following|options?|choose|"
    r"choices?|"
    r"select|pick|alternativas?|opciones|opções|elija|escolha|choisissez|wähle|"
    r"heavier|versus|vs)\b|或|还是|または|それとも|أو|또는",
)
# The answer is meant to be taken from the question, or to be a form of it.
_TASK = re.compile(
    r"\b(?:correct|extract|rewrite|paraphrase|translate|summari[sz]e|repeat|spell|"
    r"copy|quote|say|rephrase|proofread|classify|highlight|fill in|find the|identify|"
    r"underline|format|convert|reverse|sort|shorten|simplify|edit|fix|capitali[sz]e|"
    r"corrija|traduza|resuma|extraia|reescreva|repita|corrige|traduce|extrae|resume|"
    r"traduis|traduisez|résumez|corrigez|extrayez|korrigiere|übersetze|extrahiere|"
    r"исправь|переведи|извлеки|перепиши|sentence:)\b|翻译|改写|提取|总结|纠正|"
    r"翻訳|要約|抜き出|書き換え|訂正|번역|요약"
)
_PASSAGE = re.compile(
    r"\b(?:passage|context|text|article|paragraph|document|story|excerpt|email|"
    r"transcript|contexto|texto|trecho|contexte|texte|kontext|absatz|текст|контекст)"
    r"\s{0,2}[:\n]|read the (?:following|passage|text)|based on the (?:following|text|"
    r"passage|context)|according to the (?:following|text|passage)|leia o texto|"
    r"lee el texto|lisez le texte|阅读|根据以下|次の文章|以下の文章"
)
_MARKER = re.compile(
    r"(?:\b(?:(?:correct |right |expected |reference |gold(?:en)? )?answer|a|expected|"
    r"solution|hint|gold|ground truth|key|resposta(?: correta)?|gabarito|respuesta|"
    r"solución|réponse|antwort|lösung|ответ|подсказка)\b|答案|正解|答え|提示|الجواب|정답)"
    r"\s{0,2}(?:is|key|é|es|est|ist)?\s{0,2}[:：=\])>-]{0,2}\s{0,2}[\"'“(]?\s?$"
)


def is_leaked(question: str, answer: str) -> bool:
    """True when `answer` stands in `question` and gives it away.

    Answers of less than three words (eight characters in scripts without blanks),
    lists of options, and tasks on a text that stands in the question do not count.
    """
    if len(answer) > len(question) + 8:
        return False
    answer_words = words(plain(answer))
    if not _is_substantial(answer_words):
        return False
    lower = plain(question)
    question_words = words(lower)
    at = _position(question_words, answer_words)
    if at is None:
        return False
    if len(question_words) - len(answer_words) < 2:
        return False
    lead = _text_before(lower, at)
    if _MARKER.search(lead):
        return len(_OPTION.findall(lower)) < 3
    if _TASK.search(lower) or _PASSAGE.search(lower):
        return False
    if _CHOICE.search(lower) or len(_OPTION.findall(lower)) >= 2:
        return False
    return len(question_words) < _LONG_QUESTION


def _is_substantial(answer: list[str]) -> bool:
    length = sum(map(len, answer))
    if is_unspaced("".join(answer)):
        return length >= _LEAST_UNSPACED
    return len(answer) >= _LEAST_WORDS and length >= _LEAST_CHARACTERS


def _position(question: list[str], answer: list[str]) -> int | None:
    """Index of the word in `question` where `answer` begins, last place first."""
    joined = " " + " ".join(question) + " "
    at = joined.rfind(" " + " ".join(answer) + " ")
    return None if at < 0 else joined.count(" ", 0, at)


def _text_before(text: str, word: int) -> str:
    """Up to 40 characters before the word with this index."""
    for index, found in enumerate(WORD.finditer(text)):
        if index == word:
            return text[max(0, found.start() - 40) : found.start()]
    return ""
