"""Forms that rename evaluations and runs, and that let a run go on."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.models import Evaluation, Run
from workspace.formats import money


class EvaluationNameForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=120,
        error_messages={"required": gettext_lazy("Enter a name.")},
    )

    def __init__(self, evaluation: Evaluation, data: Any = None) -> None:
        super().__init__(data, initial={"name": evaluation.name})
        self.evaluation = evaluation

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        others = Evaluation.objects.filter(project=self.evaluation.project)
        if others.exclude(pk=self.evaluation.pk).filter(name__iexact=name).exists():
            message = _("There is already an evaluation %(name)s. Choose another name.")
            raise forms.ValidationError(message % {"name": name})
        return name


class RunNameForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=120,
        required=False,
        help_text=gettext_lazy("Leave it empty to go by the number."),
    )

    def __init__(self, run: Run, data: Any = None) -> None:
        super().__init__(data, initial={"name": run.name})


class ResumeForm(forms.Form):
    """An empty limit keeps the one there is."""

    max_cost = forms.FloatField(
        label=gettext_lazy("Cost limit"),
        required=False,
        min_value=0,
        max_value=1_000_000,
        widget=forms.NumberInput(attrs={"step": "0.01", "min": "0", "class": "num"}),
        error_messages={"invalid": gettext_lazy("Enter an amount, such as 4.50.")},
    )

    def __init__(self, run: Run, data: Any = None) -> None:
        initial = {} if run.max_cost is None else {"max_cost": f"{run.max_cost:.2f}"}
        super().__init__(data, initial=initial)
        self.run = run

    def clean_max_cost(self) -> float | None:
        limit: float | None = self.cleaned_data["max_cost"]
        limit = self.run.max_cost if limit is None else limit
        if limit is not None and limit <= self.run.cost:
            message = _("The run has cost %(cost)s so far. Enter a higher limit.")
            raise forms.ValidationError(message % {"cost": money(self.run.cost)})
        return limit
