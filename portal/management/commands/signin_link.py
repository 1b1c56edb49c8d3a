"""Print a new one-time sign-in address."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workspace.models import User
from workspace.signin import ensure_first_project, make_token, sign_in_address


class Command(BaseCommand):
    help = "Prints an address that signs a person in once, within a day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", nargs="?", help="Default: the first owner.")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["email"]:
            user = User.objects.filter(email__iexact=options["email"]).first()
            if user is None:
                raise CommandError(f"There is no user {options['email']}.")
        else:
            _project, user = ensure_first_project()
        self.stdout.write(sign_in_address(make_token(user)))
