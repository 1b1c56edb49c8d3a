"""Telephone numbers as people write them, judged by shape, words and number plans."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

_CANDIDATE = re.compile(
    r"(?<![\w.,/:=#%\-])(?:\+ ?|\()?\d[\d ().\-/\u2010-\u2015]{5,20}\d(?![\w%]|"
    r"[.,:/\-]\d)"
)
_IN_UNSPACED = re.compile(r"(?<![\d.,/:\-A-Za-z])\d[\d\-]{8,13}\d(?![\d.,:/\-]\d|\d)")
_SHAPES = re.compile(
    r"(?:1[ .\-])?\(?[2-9]\d\d\)?[ .\-]{1,2}[2-9]\d\d[ .\-]\d{4}"  # North America
    r"|\(?\d\d\)? ?9\d{4}-\d{4}|\(\d\d\) ?\d{4}-\d{4}"  # Brazil
    r"|0[1-9](?:[ .\-]\d\d){4}"  # France
    r"|0\d{2,4}[ \-]\d{3,4}[ \-]\d{3,4}"  # United Kingdom, Japan, India
    r"|07\d{3} ?\d{6}"  # British mobiles
    r"|0[789]0-\d{4}-\d{4}|0\d-\d{4}-\d{4}"  # Japan
    r"|8 ?\(?9\d\d\)? ?\d{3}[ \-]\d\d[ \-]\d\d"  # Russia
)
_WORDS = re.compile(
    r"phone|\btel\b|\btel[.:]|\bcall(?! i)|\bmobile|\bcell|whatsapp|\bfax\b|\bring me|"
    r"\btext\b|"
    r"\bsms\b|reach (?:me|us|him|her)|my number|her number|his number|dial|"
    r"telefon|teléfono|téléphone|celular|móvil|llám|llam[ae]|ligar|ligue|liga\b|"
    r"appel|joindre|portable|handy|nummer|anruf|rufen|rückruf|"
    r"mi número|meu número|mon numéro|cellulare|chiam|"
    r"телефон|номер|звон|мобил|电话|電話|手机|手機|携帯|联系|拨打|전화|휴대폰|هاتف|जंगम|फ़ोन|फोन",
    re.IGNORECASE,
)
_NO_PHONE = re.compile(
    r"isbn|issn|order|ticket|invoice|\bid\b|number ends|ending|serial|batch|part no|"
    r"part number|version|doi|article|tracking|reference|account",
    re.IGNORECASE,
)
_TOLL_FREE = re.compile(r"(?:\+?1)?(?:800|888|877|866|855|844|833)\d{7}$|0?800\d{5,8}$")
_DATE = re.compile(
    r"(?:19|20)\d\d[ .\-/]\d{1,2}[ .\-/]\d{1,2}\b|\d{1,2}[.\-/ ]\d{1,2}[.\-/ ](?:19|"
    r"20)\d\d"
    r"|(?:19|20)\d\d ?[\-\u2010-\u2015/] ?(?:19|20)\d\d$"
)
_REACH = 35
_CHINESE_MOBILE = re.compile(r"1[3-9]\d{9}$")


@cache
def _plans() -> Any:
    """The library with the number plans of all countries."""
    return import_module("phonenumbers")


def telephone(text: str) -> str | None:
    """The first telephone number in `text`, as it is written."""
    patterns = (_CANDIDATE,) if text.isascii() else (_CANDIDATE, _IN_UNSPACED)
    for pattern in patterns:
        for found in pattern.finditer(text):
            if _is_telephone(text, found.start(), found[0]):
                return found[0]
    return None


def _is_telephone(text: str, start: int, written: str) -> bool:
    digits = re.sub(r"\D", "", written)
    if not 7 <= len(digits) <= 15 or len(set(digits)) == 1:
        return False
    if _DATE.match(written) or _TOLL_FREE.match(digits):
        return False
    if written.startswith("+"):
        return _is_possible("+" + digits)
    before = text[max(0, start - _REACH) : start]
    if _NO_PHONE.search(before):
        return False
    if _SHAPES.fullmatch(written.strip()):
        return True
    near = before + text[start + len(written) :][:15]
    if not _WORDS.search(near):
        return False
    return _has_phone_form(written, digits)


def _has_phone_form(written: str, digits: str) -> bool:
    """A number beside a word for telephones: long enough, not an amount of money."""
    is_amount = re.fullmatch(r"\d{1,3}(?:[., ]\d{3})*(?:[.,]\d{1,2})?", written)
    if len(digits) < 9:
        return re.fullmatch(r"\d{3}[ \-]\d{4}|\d{4}[ \-]\d{4}", written) is not None
    return (
        not is_amount or len(digits) == 9 or _CHINESE_MOBILE.match(digits) is not None
    )


def _is_possible(number: str) -> bool:
    plans = _plans()
    try:
        parsed = plans.parse(number, None)
    except plans.NumberParseException:
        return False
    return bool(plans.is_possible_number(parsed))
