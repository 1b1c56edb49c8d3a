"""Numbers that belong to one person and carry check digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

_DIGITS = re.compile(r"(?:\d[^\d\n]{0,6}){7}")
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?"
    r"(?![A-Za-z0-9])"
)
_GROUPED_CARD = re.compile(
    r"(?<![\d\-])(?:\d{4}([ \-])\d{4}\1\d{4}\1\d{4}|"
    r"3\d{3}([ \-])\d{6}\2\d{5})(?![\d\-])"
)
_BARE_CARD = re.compile(r"(?<![\w.\-])[3-6]\d{12,18}(?![\w\-])")
_CARD_WORDS = re.compile(
    r"card|visa|master|amex|american express|maestro|credit|debit|cvv|cvc|expir|pay|"
    r"paid|charge|cartão|cartao|tarjeta|carte|karte|kreditkarte|карт|卡|カード|카드",
    re.IGNORECASE,
)
_REACH = 70
_LEAST_DIGITS = 7


def passages(text: str) -> Iterator[str]:
    """The parts of `text` that hold seven digits close together, with what is near."""
    if sum(map(text.count, "0123456789")) < _LEAST_DIGITS:
        return
    end = -1
    for found in _DIGITS.finditer(text):
        if found.end() > end:
            end = min(len(text), found.end() + _REACH)
            yield text[max(0, found.start() - _REACH) : end]


@cache
def _is_valid(module: str) -> Callable[[str], bool]:
    """The check of one kind of number; the tables are read when first needed."""
    check: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return check


def iban(text: str) -> str | None:
    for found in _IBAN.finditer(text):
        groups = found[0].split(" ")
        # A following word in capitals may look like a last group.
        for candidate in (found[0], " ".join(groups[:-1])):
            if len(candidate) >= 15 and _is_valid("iban")(candidate):
                return candidate
    return None


def card(text: str) -> str | None:
    """A grouped number with the right check digit; a bare one only beside a word."""
    for found in _GROUPED_CARD.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if digits[0] in "3456" and _is_valid("luhn")(digits):
            return found[0]
    for found in _BARE_CARD.finditer(text):
        if _CARD_WORDS.search(text) and _is_valid("luhn")(found[0]):
            return found[0]
    return None


@dataclass(frozen=True, slots=True)
class _Number:
    """`module` checks the digits; none where the shape alone has to do.

    `words`: one must stand near the number, where its shape says little.
    """

    name: str
    module: str
    pattern: re.Pattern[str]
    words: tuple[str, ...]


def _number(name: str, module: str, pattern: str, *words: str) -> _Number:
    shape = re.compile(rf"(?<![\w.\-])(?:{pattern})(?![\w\-])", re.ASCII)
    return _Number(name, module, shape, words)


_NUMBERS = (
    _number("CPF", "br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
    _number("CPF", "br.cpf", r"\d{11}", "cpf"),
    _number("SSN", "", r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"),
    _number("SSN", "us.ssn", r"\d{9}|\d{3} \d{2} \d{4}", "ssn", "social security"),
    _number("DNI", "es.dni", r"\d{8}-?[A-Za-z]", "dni", "nif", "documento"),
    _number("NIE", "es.nie", r"[XYZxyz]-?\d{7}-?[A-Za-z]"),
    _number("NIR", "fr.nir", r"[12] ?\d\d ?\d\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d"),
    _number(
        "codice fiscale",
        "it.codicefiscale",
        r"[A-Za-z]{6}\d\d[A-Za-z]\d\d[A-Za-z]\d{3}[A-Za-z]",
    ),
    _number("RIC", "cn.ric", r"\d{17}[\dXx]"),
    _number("PESEL", "pl.pesel", r"\d{11}", "pesel"),
    _number("BSN", "nl.bsn", r"\d{9}", "bsn", "burgerservice"),
    _number("Aadhaar", "in_.aadhaar", r"\d{4} ?\d{4} ?\d{4}", "aadhaar", "आधार"),
    _number(
        "SIN",
        "ca.sin",
        r"\d{3}[ -]?\d{3}[ -]?\d{3}",
        " sin ",
        " sin:",
        "social insurance",
    ),
    _number("CURP", "mx.curp", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d"),
    _number(
        "IdNr",
        "de.idnr",
        r"\d{2} ?\d{3} ?\d{3} ?\d{3}",
        "steuer-id",
        "steuerid",
        "idnr",
    ),
    _number("NHS", "gb.nhs", r"\d{3} ?\d{3} ?\d{4}", "nhs"),
)


_SHAPES = re.compile(
    "|".join(kind.pattern.pattern for kind in _NUMBERS if not kind.words), re.ASCII
)
_WORDS = tuple(word for kind in _NUMBERS for word in kind.words)


def identity_number(text: str) -> tuple[str, str] | None:
    """(name of the kind, number as written)"""
    lower = text.lower()
    if _SHAPES.search(text) is None and not any(map(lower.__contains__, _WORDS)):
        return None
    for kind in _NUMBERS:
        if kind.words and not any(map(lower.__contains__, kind.words)):
            continue
        for found in kind.pattern.finditer(text):
            if not kind.module or _is_valid(kind.module)(found[0]):
                return kind.name, found[0]
    return None
