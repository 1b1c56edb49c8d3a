"""Forms of signing in and of the account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from workspace.models import User


class SignInForm(forms.Form):
    email = forms.EmailField(
        label=_("E-mail"),
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        label=_("Password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class SetPasswordForm(forms.ModelForm):
    """The first password of a person who came by a one-time address."""

    password = forms.CharField(
        label=_("Password"),
        help_text=_("At least 10 characters."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    class Meta:
        model = User
        fields = ["email", "name"]
        labels = {"email": _("E-mail"), "name": _("Name")}

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].strip().lower()
        others = User.objects.exclude(pk=self.instance.pk)
        if others.filter(email__iexact=email).exists():
            raise forms.ValidationError(_("This address is already in use."))
        return email

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, self.instance)
        return password

    def save(self, commit: bool = True) -> Any:  # noqa: FBT001, FBT002 - Django's own signature
        self.instance.set_password(self.cleaned_data["password"])
        return super().save(commit)


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["name", "theme", "shortcuts"]
        labels = {
            "name": _("Name"),
            "theme": _("Theme"),
            "shortcuts": _("Single-letter keyboard shortcuts"),
        }
        widgets = {"theme": forms.RadioSelect}


class ChangePasswordForm(forms.Form):
    current = forms.CharField(
        label=_("Current password"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    new = forms.CharField(
        label=_("New password"),
        help_text=_("At least 10 characters."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_current(self) -> str:
        current: str = self.cleaned_data["current"]
        if self.user.has_usable_password() and not self.user.check_password(current):
            raise forms.ValidationError(_("This is not your current password."))
        return current

    def clean_new(self) -> str:
        new: str = self.cleaned_data["new"]
        validate_password(new, self.user)
        return new
