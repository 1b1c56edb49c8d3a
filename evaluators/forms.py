"""Forms of the catalogue: its query string, and the lists of judges."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluators.judges import LEVELS, plain_name
from evaluators.queries import CATEGORIES, KINDS, MEDIA


def _choice(keys: object) -> forms.ChoiceField:
    return forms.ChoiceField(
        required=False,
        choices=[("", ""), *[(k, k) for k in keys]],  # type: ignore[attr-defined]
    )


ROWS = {"rows": 6}


class JudgesForm(forms.Form):
    """One model in each line."""

    recommended = forms.CharField(
        label=_("Recommended"), required=False, widget=forms.Textarea(ROWS)
    )
    acceptable = forms.CharField(
        label=_("Acceptable"), required=False, widget=forms.Textarea(ROWS)
    )
    not_recommended = forms.CharField(
        label=_("Not recommended"),
        required=False,
        widget=forms.Textarea(ROWS),
        help_text=_(
            "One model in each line, as its maker calls it. A date or a provider "
            "around the name makes no difference."
        ),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        lists: dict[str, Any] = {name: lines(data.get(name, "")) for name in LEVELS}
        named = [plain_name(model) for models in lists.values() for model in models]
        for model in {name for name in named if named.count(name) > 1}:
            message = _("%(model)s stands in several lines.") % {"model": model}
            self.add_error(None, message)
        return lists


def lines(text: str) -> list[str]:
    return [line.strip()[:100] for line in text.splitlines() if line.strip()][:200]


class CatalogueQuery(forms.Form):
    """What is not understood counts as not given."""

    q = forms.CharField(max_length=200, required=False)
    c = _choice(CATEGORIES)
    kind = _choice(KINDS)
    level = _choice(("turn", "conversation"))

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["in"] = _choice(MEDIA)

    @property
    def values(self) -> dict[str, str]:
        self.is_valid()
        return {name: self.cleaned_data.get(name) or "" for name in self.fields}
