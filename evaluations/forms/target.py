"""The form of the wizard's first step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assay.running.spec import TargetSpec
from targets.models import Deployment

KINDS = [("dataset", _("Dataset")), ("model", _("Model"))]


class TargetForm(forms.Form):
    kind = forms.ChoiceField(label=_("Evaluation target"), choices=KINDS)
    deployment = forms.ChoiceField(label=_("Model"), required=False)
    system_prompt = forms.CharField(
        label=_("System prompt"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "textarea mono"}),
    )
    user_prompt = forms.CharField(
        label=_("Message sent for each row"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "class": "textarea mono"}),
    )
    temperature = forms.FloatField(
        label=_("Temperature"), required=False, min_value=0, max_value=2
    )
    top_p = forms.FloatField(label=_("Top p"), required=False, max_value=1)
    max_tokens = forms.IntegerField(
        label=_("Longest answer in tokens"), required=False, min_value=1
    )
    seed = forms.IntegerField(label=_("Seed"), required=False)

    def __init__(
        self,
        *args: Any,
        deployments: Mapping[str, Deployment],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        groups: dict[str, list[tuple[str, str]]] = {}
        for ref, deployment in deployments.items():
            groups.setdefault(str(deployment.connection), []).append(
                (ref, deployment.label)
            )
        field = self.fields["deployment"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("Choose a model")), *groups.items()]
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            self.fields[name].widget = forms.TextInput(
                attrs={"inputmode": "decimal", "class": "input num"}
            )

    def clean_top_p(self) -> float | None:
        value: float | None = self.cleaned_data["top_p"]
        if value is not None and value <= 0:
            raise forms.ValidationError(_("Enter a number above 0, at most 1."))
        return value

    def spec(self) -> TargetSpec:
        """The target of a valid form. Prompts are kept as typed."""
        data = self.cleaned_data
        return TargetSpec(
            kind=data["kind"],
            deployment=data["deployment"],
            system_prompt=data["system_prompt"].replace("\r\n", "\n"),
            user_prompt=data["user_prompt"].replace("\r\n", "\n"),
            temperature=data["temperature"],
            top_p=data["top_p"],
            max_tokens=data["max_tokens"],
            seed=data["seed"],
        )
