"""One-time sign-in addresses, the first owner, and the throttle of failed tries."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.text import slugify

from workspace.models import (
    Membership,
    Project,
    Role,
    SignInFailure,
    SignInToken,
    User,
)

TOKEN_LIFE = timedelta(hours=24)
MAX_FAILURES = 8
WINDOW = timedelta(minutes=15)
FIRST_OWNER = "owner@localhost"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@transaction.atomic
def ensure_first_project() -> tuple[Project, User]:
    """The default project and its first owner, made when they do not exist yet."""
    membership = (
        Membership.objects.filter(role=Role.OWNER, user__is_active=True)
        .select_related("project", "user")
        .order_by("pk")
        .first()
    )
    if membership:
        return membership.project, membership.user
    project = Project.objects.order_by("pk").first()
    if project is None:
        name = "My project"
        project = Project.objects.create(name=name, slug=slugify(name))
    user = User.objects.order_by("pk").first() or User.objects.create_user(FIRST_OWNER)
    Membership.objects.create(project=project, user=user, role=Role.OWNER)
    return project, user


def make_token(user: User) -> str:
    """A secret that signs `user` in once within a day. Only its digest is kept."""
    secret = secrets.token_urlsafe(24)
    SignInToken.objects.create(
        user=user, digest=_digest(secret), expires_at=timezone.now() + TOKEN_LIFE
    )
    return secret


def use_token(secret: str) -> User | None:
    """The user of a valid secret, which is used up by this call."""
    now = timezone.now()
    tokens = SignInToken.objects.filter(
        digest=_digest(secret), used_at=None, expires_at__gt=now, user__is_active=True
    )
    if not tokens.update(used_at=now):
        return None
    token = SignInToken.objects.select_related("user").get(digest=_digest(secret))
    return token.user


def sign_in_address(secret: str) -> str:
    """The address to print. PORT and host are those that the server listens on."""
    host = settings.HOST if settings.HOST not in {"", "0.0.0.0"} else "127.0.0.1"  # noqa: S104 - compared, not bound
    return f"http://{host}:{settings.PORT}/sign-in/?token={secret}"


def _bucket(email: str, origin: str) -> str:
    return _digest(f"{email.strip().lower()}|{origin}")


def is_throttled(email: str, origin: str) -> bool:
    """True after too many failures of this address from this origin in a window."""
    return SignInFailure.objects.filter(
        bucket=_bucket(email, origin),
        window_ends__gt=timezone.now(),
        count__gte=MAX_FAILURES,
    ).exists()


def count_failure(email: str, origin: str) -> None:
    now = timezone.now()
    SignInFailure.objects.filter(window_ends__lt=now).delete()
    failure, _created = SignInFailure.objects.get_or_create(
        bucket=_bucket(email, origin), defaults={"window_ends": now + WINDOW}
    )
    SignInFailure.objects.filter(pk=failure.pk).update(count=F("count") + 1)
