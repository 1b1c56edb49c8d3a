"""Forms of the dataset pages, also for what stands in the query string."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assay.data.checkup import KINDS
from assay.data.records import ENCODING_LABELS
from datasets.models import Dataset, DatasetVersion
from datasets.requests import ReadRequest
from workspace.models import Project

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
    finding = forms.ChoiceField(
        required=False,
        choices=[("", _("Any finding")), *[(k.slug, k.label) for k in KINDS.values()]],
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
    fetch_links = forms.BooleanField(
        label=_("Fetch images and audio from links"),
        required=False,
        help_text=_(
            "The server opens each link once, public addresses only, and keeps the "
            "file, so that later runs see the same. Without this, links stay text."
        ),
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


class ReadForm(forms.Form):
    """How to read a file: what stays empty is as detected."""

    encoding = forms.ChoiceField(
        label=_("Encoding"),
        required=False,
        choices=[
            ("", _("As detected")),
            *[(key, ENCODING_LABELS[key]) for key in ENCODING_LABELS],
        ],
    )
    delimiter = forms.ChoiceField(
        label=_("Separator"),
        required=False,
        choices=[
            ("", _("As detected")),
            ("comma", _("Comma")),
            ("semicolon", _("Semicolon")),
            ("tab", _("Tab")),
            ("pipe", _("Vertical bar")),
        ],
    )
    has_header = forms.ChoiceField(
        label=_("First row"),
        required=False,
        choices=[
            ("", _("As detected")),
            ("yes", _("Names of the columns")),
            ("no", _("Values")),
        ],
    )
    read_json = forms.BooleanField(label=_("Read JSON in cells"), required=False)
    fetch_links = forms.BooleanField(label=_("Fetch media from links"), required=False)
    skip_bad = forms.BooleanField(required=False)

    @property
    def request(self) -> ReadRequest:
        """The choices of a valid form; a person reviews what comes out."""
        data = dict(self.cleaned_data)
        data["delimiter"] = DELIMITERS.get(data["delimiter"], "")
        return ReadRequest(**data, needs_review=True)


DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
"""By the name that a form can carry without losing it."""


class DecisionForm(forms.Form):
    """What becomes of the rows with a finding: one field per kind, keep or drop."""

    def __init__(self, *args: Any, slugs: Iterable[str], **options: Any) -> None:
        super().__init__(*args, **options)
        for slug in slugs:
            self.fields[slug] = forms.ChoiceField(
                required=False, choices=[("keep", ""), ("drop", "")], initial="keep"
            )

    @property
    def dropped(self) -> list[str]:
        return [slug for slug, choice in self.cleaned_data.items() if choice == "drop"]


def part_names(name: str, how: str | None) -> list[str]:
    """The names of the datasets that are made: two for a split."""
    if not name:
        return []
    return [f"{name} 1", f"{name} 2"] if how == "split" else [name]


class PartForm(forms.Form):
    """A part of a version as a dataset of its own."""

    name = forms.CharField(label=_("Name of the new dataset"), max_length=110)
    how = forms.ChoiceField(
        label=_("Rows"),
        choices=[
            ("found", _("The rows of the list as it is filtered")),
            ("sample", _("A random sample")),
            ("split", _("A random split into two datasets")),
        ],
        initial="sample",
    )
    size = forms.IntegerField(
        label=_("Rows in the sample, or in the first part"),
        min_value=1,
        required=False,
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=2**31 - 1,
        initial=1,
        required=False,
        help_text=_("The same seed draws the same rows."),
    )

    def __init__(
        self, *args: Any, project: Project, row_count: int, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.project = project
        self.row_count = row_count

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        how, size = data.get("how"), data.get("size")
        for name in part_names(data.get("name", ""), how):
            known = Dataset.objects.filter(project=self.project, name__iexact=name)
            if known.exists():
                text = _("There is already a dataset %(name)s.")
                self.add_error("name", text % {"name": name})
        if how in ("sample", "split") and "size" not in self.errors:
            most = self.row_count - (how == "split")
            if not size:
                self.add_error("size", _("How many rows?"))
            elif size > most:
                message = _("At most %(most)s of the %(rows)s rows.")
                counts = {"most": f"{most:,}", "rows": f"{self.row_count:,}"}
                self.add_error("size", message % counts)
        return data
