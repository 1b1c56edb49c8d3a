"""What stands in the query string of the evaluations list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from datasets.forms import QueryForm

SORTS = ("latest", "name", "passed", "runs")
DEFAULT_SORT = "-latest"


class ListQuery(QueryForm):
    """Models and evaluators to choose from are those in use."""

    q = forms.CharField(max_length=200, required=False)
    status = forms.ChoiceField(
        required=False,
        choices=[
            ("", _("Any status")),
            ("running", _("Running")),
            ("paused", _("Paused")),
            ("completed", _("Completed")),
            ("errors", _("Completed with errors")),
            ("failed", _("Failed")),
            ("canceled", _("Canceled")),
        ],
    )
    target = forms.ChoiceField(required=False)
    evaluator = forms.ChoiceField(required=False)
    created = forms.ChoiceField(
        required=False,
        choices=[
            ("", _("Any time")),
            ("1", _("Last 24 hours")),
            ("7", _("Last 7 days")),
            ("30", _("Last 30 days")),
        ],
    )
    sort = forms.ChoiceField(
        required=False,
        initial=DEFAULT_SORT,
        choices=[(f"{sign}{key}", key) for key in SORTS for sign in ("", "-")],
    )

    def __init__(
        self, data: Any, choices: Mapping[str, Sequence[tuple[str, str]]]
    ) -> None:
        super().__init__(data)
        labels = {"target": _("Any target"), "evaluator": _("Any evaluator")}
        for name, label in labels.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", label), *choices[name]]
