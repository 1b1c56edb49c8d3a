"""Model fields and identifiers shared by every app."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def new_ref(prefix: str) -> str:
    """A public id: `prefix_` and 20 characters that cannot be guessed or misread."""
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(20))}"


def _fernet() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet(
        [
            Fernet(
                base64.urlsafe_b64encode(
                    hashlib.sha256(b"assay.field:" + key.encode()).digest()
                )
            )
            for key in keys
        ]
    )


def encrypt(text: str) -> str:
    return _fernet().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    try:
        return _fernet().decrypt(token.encode()).decode()
    except InvalidToken:
        message = (
            "A stored key cannot be read: it was saved under another secret key. "
            "Put the former one into ASSAY_SECRET_KEY_FALLBACKS or enter the key again."
        )
        raise ImproperlyConfigured(message) from None


class EncryptedTextField(models.TextField):
    """Text encrypted at rest under the secret key. Cannot be searched."""

    def get_prep_value(self, value: Any) -> str | None:
        text: str | None = super().get_prep_value(value)
        return encrypt(text) if text else text

    def from_db_value(
        self,
        value: str | None,
        _expression: object,
        _connection: BaseDatabaseWrapper,
    ) -> str | None:
        return decrypt(value) if value else value
