"""Finds personal data: addresses, telephone, payment and identity numbers.

Not personal: addresses at reserved example domains, addresses of a function (info@),
toll-free numbers, IP addresses. Invented numbers of the 555-01xx kind are found, since
they stand where real ones would. What is seen is masked in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.data.checkup import identity
from assay.data.checkup.phones import telephone
from assay.data.checkup.texts import word_set
from assay.data.text import Sentence, storable
from assay.data.text import gettext_noop as _

_EMAIL = _("An e-mail address: %(masked)s")
_PHONE = _("A telephone number: %(masked)s")
_CARD = _("A payment card number: %(masked)s")
_IBAN = _("A bank account number: %(masked)s")
_IDENTITY = _("A personal identity number (%(name)s): %(masked)s")

_LOCAL = re.compile(r"[^\W\x00-\x1f]?[\w.%+\-']{0,63}$")
_DOMAIN = re.compile(r"(?:[\w\-]{1,63}\.){1,6}([^\W\d_]{2,24})(?![\w@])")
_MOST_SIGNS = 2000
_RESERVED = ("example.com", "example.org", "example.net", "example.edu")
_RESERVED_TOPS = frozenset({"example", "test", "invalid", "localhost", "local"})
_FILE_TOPS = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "py", "json", "txt"}
)
_FUNCTIONS = word_set(
    "info support sales contact admin noreply no-reply donotreply help helpdesk hello "
    "office press jobs careers webmaster postmaster hostmaster abuse security privacy "
    "billing hr team service services marketing feedback enquiries inquiries orders "
    "news newsletter media legal accounts accounting finance reservations booking "
    "kontakt contato contacto atendimento suporte soporte ventas vendas ouvidoria sac "
    "git user username name you your.name yourname email mail test someone example "
    "foo bar customerservice customer.service returns root"
)


def personal_data(text: str) -> Sentence | None:
    """The first kind of personal data in `text`, masked; None when there is none."""
    for masked in _emails(text):
        return Sentence(_EMAIL, {"masked": masked})
    for passage in identity.passages(text):
        found = _number(passage)
        if found is not None:
            return found
    return None


def _number(passage: str) -> Sentence | None:
    """The most telling number in a short text."""
    if (iban := identity.iban(passage)) is not None:
        return Sentence(_IBAN, {"masked": _masked(iban)})
    if (card := identity.card(passage)) is not None:
        return Sentence(_CARD, {"masked": _masked(card)})
    if (named := identity.identity_number(passage)) is not None:
        name, number = named
        return Sentence(_IDENTITY, {"name": name, "masked": _masked(number)})
    if (phone := telephone(passage)) is not None:
        return Sentence(_PHONE, {"masked": _masked(phone)})
    return None


def _masked(number: str) -> str:
    """The last two characters only."""
    return "…" + number.strip()[-2:]


def _emails(text: str) -> Iterator[str]:
    at = text.find("@")
    for _sign in range(_MOST_SIGNS):
        if at < 0:
            return
        masked = _email_at(text, at)
        if masked is not None:
            yield masked
        at = text.find("@", at + 1)


def _email_at(text: str, at: int) -> str | None:
    """The masked address around the sign at `at`, when it is somebody's."""
    local = _LOCAL.search(text[max(0, at - 64) : at])
    domain = _DOMAIN.match(text, at + 1, at + 260)
    if local is None or domain is None or not local[0].strip(".'-"):
        return None
    name = local[0].strip(".'").lower()
    host = domain[0].lower()
    before = text[max(0, at - 120) : at].rpartition("://")
    is_in_url = bool(before[1]) and not re.search(r"\s", before[2])
    top = domain[1].lower()
    if is_in_url or top in _RESERVED_TOPS | _FILE_TOPS:
        return None
    if name.partition("+")[0] in _FUNCTIONS:
        return None
    if any(host == known or host.endswith("." + known) for known in _RESERVED):
        return None
    return storable(f"{name[0]}…@{host}")
