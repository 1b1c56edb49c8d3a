"""The query string of the catalogue."""

from __future__ import annotations

from django import forms

from evaluators.queries import CATEGORIES, KINDS, MEDIA


def _choice(keys: object) -> forms.ChoiceField:
    return forms.ChoiceField(
        required=False,
        choices=[("", ""), *[(k, k) for k in keys]],  # type: ignore[attr-defined]
    )


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
