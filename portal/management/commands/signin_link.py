"""Print a new one-time sign-in address; with --add also for a new person."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email

from workspace.models import Membership, Role, User
from workspace.signin import ensure_first_project, make_token, sign_in_address

ROLES = {role.name.lower(): role for role in Role}


class Command(BaseCommand):
    help = "Prints an address that signs a person in once, within a day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", nargs="?", help="Default: the first owner.")
        parser.add_argument(
            "--add",
            choices=sorted(ROLES),
            help="Add this person to the first project with this role.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project, owner = ensure_first_project()
        email, role = options["email"], options["add"]
        if role and not email:
            raise CommandError("--add needs an e-mail address.")
        user = owner if not email else self._user(email, may_add=bool(role))
        if role:
            Membership.objects.update_or_create(
                project=project, user=user, defaults={"role": ROLES[role]}
            )
        self.stdout.write(sign_in_address(make_token(user)))

    def _user(self, email: str, *, may_add: bool) -> User:
        user: User | None = User.objects.filter(email__iexact=email.strip()).first()
        if user is not None:
            return user
        if not may_add:
            raise CommandError(f"There is no user {email}. Add one with --add editor.")
        try:
            validate_email(email.strip())
        except ValidationError:
            raise CommandError(f"{email} is not an e-mail address.") from None
        added = User.objects.create_user(email)
        assert isinstance(added, User)
        return added
