"""Signing in by e-mail and password."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest

from workspace.models import User


class EmailBackend(BaseBackend):
    def authenticate(
        self,
        request: HttpRequest | None,
        email: str | None = None,
        password: str | None = None,
        **_kwargs: Any,
    ) -> User | None:
        if not email or not password:
            return None
        user = User.objects.filter(email__iexact=email.strip(), is_active=True).first()
        if user is None:
            make_password(password)  # the same time for a known and an unknown address
            return None
        return user if user.check_password(password) else None

    def get_user(self, user_id: int) -> User | None:
        return User.objects.filter(pk=user_id, is_active=True).first()
