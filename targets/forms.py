"""Forms of connections and models."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from targets import addresses
from targets.connections import DEFAULT_API_VERSION, same_server
from targets.models import Connection, Deployment
from workspace.models import Project

KINDS = [
    (Connection.Kind.OPENAI.value, Connection.Kind.OPENAI.label),
    (Connection.Kind.AZURE.value, Connection.Kind.AZURE.label),
]
LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute")
PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class ConnectionForm(forms.ModelForm):
    """A connection. The key is written and never shown: an empty field keeps it."""

    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=KINDS,
        initial=Connection.Kind.OPENAI.value,
        widget=forms.RadioSelect,
    )
    base_url = forms.CharField(
        label=_("Base URL"),
        max_length=500,
        help_text=_(
            "For example https://api.openai.com/v1, http://localhost:11434 or "
            "https://NAME.openai.azure.com. With or without /v1."
        ),
        widget=forms.TextInput(attrs={**PLAIN, "inputmode": "url"}),
        error_messages={"required": _("Enter the address of the server.")},
    )
    api_version = forms.CharField(
        label=_("API version"),
        required=False,
        max_length=40,
        help_text=_("Azure OpenAI only. Without one, %(version)s is used.")
        % {"version": DEFAULT_API_VERSION},
        widget=forms.TextInput(attrs=PLAIN),
    )
    api_key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=2000,
        help_text=_("Local servers often need none."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    remove_key = forms.BooleanField(label=_("Remove the stored key"), required=False)

    class Meta:
        model = Connection
        fields = ["kind", "name", "base_url", "api_version"]
        labels = {"name": _("Name")}
        widgets = {"name": forms.TextInput(attrs=PLAIN)}
        error_messages = {"name": {"required": _("Enter a name.")}}

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        if not self.instance.pk or not self.instance.api_key:
            del self.fields["remove_key"]
        elif self.instance.key_hint:
            hint = _now("A key is stored. It ends in %(hint)s. Leave empty to keep it.")
            self.fields["api_key"].help_text = hint % {"hint": self.instance.key_hint}
        else:
            self.fields["api_key"].help_text = _(
                "A key is stored. Leave empty to keep it."
            )
        if self.data.get("api_key"):
            self.fields["api_key"].help_text = _("Enter the key again.")

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        others = self.project.connections.exclude(pk=self.instance.pk)
        if others.filter(name__iexact=name).exists():
            message = _now("There is already a connection %(name)s.") % {"name": name}
            raise ValidationError(message)
        return name

    def clean_api_key(self) -> str:
        key: str = self.cleaned_data["api_key"].strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ValidationError(
                _("The key has characters that cannot be sent. Copy it again.")
            )
        return key

    def clean_api_version(self) -> str:
        version: str = self.cleaned_data["api_version"].strip()
        if not version.replace("-", "").isalnum() and version:
            raise ValidationError(_("Enter a version such as 2024-10-21."))
        return version

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        url, kind = cleaned.get("base_url"), cleaned.get("kind")
        if url and kind:
            try:
                self._check_key(self._normalised(url, kind))
            except addresses.AddressError as error:
                self.add_error("base_url", _now(str(error)))
        if kind == Connection.Kind.OPENAI:
            cleaned["api_version"] = ""
        return cleaned

    def _normalised(self, url: str, kind: str) -> str:
        """Raises `AddressError`. A stored address that did not change stays."""
        if kind == Connection.Kind.AZURE:
            return addresses.normalise_azure_url(url)
        if url == self.instance.base_url:
            return url
        return addresses.normalise_base_url(url)

    def _check_key(self, url: str) -> None:
        """A stored key goes to no other server: it was given to the former one."""
        stored = self.instance
        if not stored.pk or not stored.api_key or "api_key" in self.errors:
            return
        if self.key is None and not same_server(url, stored.base_url):
            self.add_error(
                "api_key",
                _("Enter the key again: the address is on another server."),
            )

    @property
    def key(self) -> str | None:
        """The key to store: None keeps the stored one, "" removes it."""
        if self.cleaned_data.get("api_key"):
            key: str = self.cleaned_data["api_key"]
            return key
        return "" if self.cleaned_data.get("remove_key") else None


class DeploymentForm(forms.ModelForm):
    """A model: its name on the server, prices and limits."""

    concurrency = forms.IntegerField(
        label=_("Calls at once"),
        required=False,
        min_value=1,
        max_value=256,
        help_text=_("8 without an entry."),
    )
    requests_per_minute = forms.IntegerField(
        label=_("Requests per minute"),
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text=_("No limit without an entry."),
    )
    tokens_per_minute = forms.IntegerField(
        label=_("Tokens per minute"),
        required=False,
        min_value=1,
        max_value=10_000_000_000,
        help_text=_("No limit without an entry."),
    )

    class Meta:
        model = Deployment
        fields = ["model", "display_name", "price_input", "price_output"]
        labels = {
            "model": _("Model"),
            "display_name": _("Display name"),
            "price_input": _("Price of input, $ per 1 M tokens"),
            "price_output": _("Price of output, $ per 1 M tokens"),
        }
        help_texts = {
            "model": _(
                "The name that the server knows, such as gpt-5-mini. For Azure OpenAI "
                "the name of the deployment."
            ),
            "display_name": _("Shown instead of the name, when given."),
        }
        widgets = {
            "model": forms.TextInput(attrs=PLAIN),
            "display_name": forms.TextInput(attrs=PLAIN),
        }
        error_messages = {"model": {"required": _("Enter the name of the model.")}}

    def __init__(
        self, *args: Any, connection: Connection | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.connection = connection
        for name in ("price_input", "price_output"):
            self.fields[name].widget.attrs.update({"min": "0", "step": "any"})
        for name in LIMITS:
            self.fields[name].initial = self.instance.limits.get(name)

    def clean_model(self) -> str:
        model: str = self.cleaned_data["model"].strip()
        if self.connection and self.connection.pk:
            others = self.connection.deployments.exclude(pk=self.instance.pk)
            if others.filter(model=model).exists():
                message = _now("This connection already has the model %(model)s.")
                raise ValidationError(message % {"model": model})
        return model

    def _price(self, name: str) -> Any:
        price = self.cleaned_data[name]
        if price is not None and price < 0:
            raise ValidationError(_("Enter a price of 0 or more."))
        return price

    def clean_price_input(self) -> Any:
        return self._price("price_input")

    def clean_price_output(self) -> Any:
        return self._price("price_output")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        one = cleaned.get("price_input") is None, cleaned.get("price_output") is None
        if any(one) and not all(one) and not self.errors:
            missing = "price_input" if one[0] else "price_output"
            self.add_error(missing, _("Enter both prices or none."))
        self.instance.limits = {
            name: cleaned[name] for name in LIMITS if cleaned.get(name)
        }
        return cleaned

    @property
    def values(self) -> dict[str, Any]:
        """Fields of a new deployment."""
        names = ("display_name", "price_input", "price_output")
        found = {name: self.cleaned_data[name] for name in names}
        return {**found, "limits": self.instance.limits}
