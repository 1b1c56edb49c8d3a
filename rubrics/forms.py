"""Forms of the rubric pages; the editor's own is read by `posted`."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assay.data.text import storable
from datasets.models import DatasetVersion
from targets.models import Deployment
from workspace.models import Project


class StartForm(forms.Form):
    """How a new rubric begins."""

    EMPTY, JSON, EXAMPLE = "empty", "json", "example"
    start = forms.ChoiceField(
        label=_("Start from"),
        choices=[
            (EMPTY, _("An empty rubric")),
            (JSON, _("JSON")),
            (EXAMPLE, _("The restaurant example")),
        ],
        initial=EMPTY,
        widget=forms.RadioSelect,
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=256,
        required=False,
        help_text=_(
            "Letters, digits and the signs underscore, full stop, tilde and hyphen."
        ),
        widget=forms.TextInput(
            attrs={"class": "mono", "autocomplete": "off", "autofocus": True}
        ),
    )
    json = forms.CharField(
        label=_("JSON"),
        required=False,
        strip=False,
        help_text=_("A list of dimensions, or a whole rubric definition."),
        widget=forms.Textarea(
            attrs={"rows": 14, "class": "mono", "spellcheck": "false"}
        ),
    )

    def clean_name(self) -> str:
        return storable(str(self.cleaned_data["name"]))


class CopyForm(forms.Form):
    """Where a copy of a rubric goes."""

    project = forms.ModelChoiceField(
        label=_("Project"), queryset=Project.objects.none(), empty_label=None
    )
    name = forms.CharField(
        label=_("Name there"),
        max_length=256,
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off"}),
    )

    def __init__(self, projects: list[Project], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["project"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Project.objects.filter(pk__in=[p.pk for p in projects])


class TryForm(forms.Form):
    """Which rows are scored, and by whom."""

    ONE, TEN = 1, 10
    version = forms.ChoiceField(label=_("Dataset"))
    row = forms.IntegerField(label=_("Row"), min_value=1, initial=1)
    count = forms.TypedChoiceField(
        label=_("Rows"),
        coerce=int,
        choices=[(ONE, _("1 row")), (TEN, _("10 rows"))],
        initial=ONE,
    )
    judge = forms.ChoiceField(label=_("Judge"))

    def __init__(
        self,
        versions: list[DatasetVersion],
        judges: list[Deployment],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._versions = {version.ref: version for version in versions}
        self._judges = {judge.ref: judge for judge in judges}
        self.fields["version"] = forms.ChoiceField(
            label=_("Dataset"), choices=[(v.ref, str(v)) for v in versions]
        )
        self.fields["judge"] = forms.ChoiceField(
            label=_("Judge"), choices=[(j.ref, j.label) for j in judges]
        )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        version = self._versions.get(data.get("version", ""))
        row = data.get("row")
        if version is not None and row is not None and row > version.row_count:
            message = _("This dataset has %(count)s rows.")
            self.add_error(
                "row",
                forms.ValidationError(message, params={"count": version.row_count}),
            )
        return data

    @property
    def chosen_version(self) -> DatasetVersion:
        return self._versions[self.cleaned_data["version"]]

    @property
    def chosen_judge(self) -> Deployment:
        return self._judges[self.cleaned_data["judge"]]

    @property
    def indexes(self) -> list[int]:
        """The rows from the chosen one on, as many as there are."""
        first, count = self.cleaned_data["row"], self.cleaned_data["count"]
        last = min(first + count - 1, self.chosen_version.row_count)
        return list(range(first, last + 1))
