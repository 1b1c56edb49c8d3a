"""Forms of the dataset pages, also for what stands in the query string."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assay.data.records import ENCODING_LABELS
from datasets.models import Dataset, DatasetVersion

SORTS = ("name", "rows", "size", "updated")
DEFAULT_SORT = "-updated"
TABS = ("rows", "columns", "versions", "report", "runs")
CONTENT_KINDS = ("image", "audio", "chat")


class QueryForm(forms.Form):
    """A query string: what is not understood counts as not given."""

    page = forms.IntegerField(min_value=1, required=False)

    @property
    def values(self) -> dict[str, Any]:
        self.is_valid()
        return {
            name: self.cleaned_data.get(name) or field.initial or ""
            for name, field in self.fields.items()
        }


class ListQuery(QueryForm):
    q = forms.CharField(max_length=200, required=False)
    content = forms.ChoiceField(
        required=False,
        choices=[
            ("", _("Any content")),
            ("image", _("With images")),
            ("audio", _("With audio")),
            ("chat", _("Conversations")),
        ],
    )
    source = forms.ChoiceField(
        required=False, choices=[("", _("Any source")), *DatasetVersion.Source.choices]
    )
    sort = forms.ChoiceField(
        required=False,
        initial=DEFAULT_SORT,
        choices=[(f"{sign}{key}", key) for key in SORTS for sign in ("", "-")],
    )


class RowsQuery(QueryForm):
    tab = forms.ChoiceField(
        required=False, initial="rows", choices=[(tab, tab) for tab in TABS]
    )
    q = forms.CharField(max_length=200, required=False)
    has = forms.ChoiceField(
        required=False, choices=[("", ""), *[(kind, kind) for kind in CONTENT_KINDS]]
    )
    cols = forms.IntegerField(min_value=1, required=False)


class UploadForm(forms.Form):
    """The file itself is checked by the view: it may have been refused while read."""

    name = forms.CharField(
        label=_("Dataset name"),
        required=False,
        max_length=120,
        help_text=_(
            "Without a name, the name of the file is used. "
            "The name of a dataset that exists adds a version to it."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class RenameForm(forms.ModelForm):
    class Meta:
        model = Dataset
        fields = ["name", "description"]
        labels = {"name": _("Name"), "description": _("Description")}
        widgets = {"description": forms.TextInput}

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        others = Dataset.objects.filter(project=self.instance.project)
        if others.exclude(pk=self.instance.pk).filter(name__iexact=name).exists():
            message = _("There is already a dataset %(name)s.") % {"name": name}
            raise forms.ValidationError(message)
        return name


class ImportAgainForm(forms.Form):
    """How to read a file once more."""

    encoding = forms.ChoiceField(
        label=_("Encoding"),
        required=False,
        choices=[
            ("", _("As detected")),
            *[(key, ENCODING_LABELS[key]) for key in ENCODING_LABELS],
        ],
    )
    skip_bad = forms.BooleanField(required=False)
