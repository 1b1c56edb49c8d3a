"""The form of the page that generates rubrics, and what it starts from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assay.data.text import storable
from assay.scoring.rubric.spec import name_problem
from evaluators.models import Evaluator
from rubrics import naming, queries
from rubrics.documents import MAX_TITLE, Document, from_version
from rubrics.generate import Wish, wish_of
from rubrics.models import RubricDraft, RubricJob
from rubrics.saving import document_of
from rubrics.sources import MOST_PROMPT
from targets.models import Deployment
from workspace.models import Project
from workspace.sentences import say

CATEGORIES = [
    ("quality", gettext_lazy("Quality")),
    ("safety", gettext_lazy("Safety")),
]
LEVELS = [
    ("turn", gettext_lazy("Single responses")),
    ("conversation", gettext_lazy("Whole conversations")),
]


def models_in(project: Project) -> dict[str, Deployment]:
    """By ref, the simulator last. 1 query."""
    found = Deployment.objects.select_related("connection").filter(
        connection__project=project
    )
    ordered = sorted(
        found, key=lambda d: (d.connection.is_simulated, d.label.casefold())
    )
    return {deployment.ref: deployment for deployment in ordered}


def model_label(deployment: Deployment) -> str:
    label = f"{deployment.label} ({deployment.connection.name})"
    if deployment.connection.is_simulated:
        label += f" – {_('simulated')}"
    return label


class GenerateForm(forms.Form):
    """`base` is the wish of a rubric that is generated again: its category, level and
    name are not asked for. `same` is the rubric whose name was typed."""

    model = forms.ChoiceField(label=gettext_lazy("Model"))
    category = forms.ChoiceField(label=gettext_lazy("Category"), choices=CATEGORIES)
    level = forms.ChoiceField(label=gettext_lazy("Judges"), choices=LEVELS)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=256,
        required=False,
        help_text=gettext_lazy(
            "Letters, digits and the signs underscore, full stop, tilde and hyphen. "
            "The name of a rubric of this project makes its next version."
        ),
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    title = forms.CharField(
        label=gettext_lazy("Display name"), max_length=MAX_TITLE, required=False
    )
    prompt = forms.CharField(
        label=gettext_lazy("System prompt"),
        max_length=MOST_PROMPT,
        required=False,
        strip=False,
    )

    def __init__(
        self,
        project: Project,
        models: dict[str, Deployment],
        base: Wish,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._project = project
        self._models = models
        self.base = base
        self.same: Evaluator | None = None
        self.fields["model"] = forms.ChoiceField(
            label=_("Model"),
            choices=[(ref, model_label(model)) for ref, model in models.items()],
            error_messages={
                "required": _("Choose a model."),
                "invalid_choice": _("This model was deleted. Choose another one."),
            },
        )
        if base.is_again:
            for name in ("category", "level", "name", "title"):
                del self.fields[name]

    def clean_prompt(self) -> str:
        return storable(str(self.cleaned_data["prompt"]).replace("\r\n", "\n"))

    def clean_title(self) -> str:
        return storable(str(self.cleaned_data["title"]))

    def clean_name(self) -> str:
        name = storable(str(self.cleaned_data["name"]))
        wrong = name_problem(name) if name else None
        if wrong is not None:
            raise forms.ValidationError(say(wrong))
        return name

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        same = (
            naming.taken_by(self._project, data["name"]) if data.get("name") else None
        )
        if same is None:
            return data
        self.base = of_rubric(same)
        self.same = same
        if self.base.category != data.get("category"):
            self.add_error(
                "category", self._other(same, self.base.category, CATEGORIES)
            )
        if self.base.level != data.get("level"):
            self.add_error("level", self._other(same, self.base.level, LEVELS))
        return data

    def _other(
        self, same: Evaluator, value: str, words: Sequence[tuple[str, Any]]
    ) -> str:
        message = _('The rubric %(name)s has "%(value)s". Choose that or another name.')
        return message % {"name": same.name, "value": dict(words)[value]}

    def chosen(self) -> Deployment | None:
        """The model of the form as far as it is filled in, else the first one."""
        ref = self.data.get("model") if self.is_bound else self.initial.get("model")
        return self._models.get(str(ref)) or next(iter(self._models.values()), None)

    def typed_prompt(self) -> str:
        return str(self["prompt"].value() or "")

    def wish(self) -> Wish:
        """What a valid form asks for, without its sources."""
        fields = {n: self.cleaned_data[n] for n in self.fields if n != "model"}
        if fields.get("category") == "safety":
            fields["scoring"] = "boolean"
        return self.base.model_copy(update=fields)

    def loosely(self) -> Wish:
        """What the form asks for as far as it can be read, for an estimate."""
        is_safety = self.data.get("category") == "safety"
        if self.base.is_again or not is_safety:
            return self.base
        return self.base.model_copy(update={"category": "safety"})


def of_rubric(evaluator: Evaluator) -> Wish:
    """The wish for the next version of a rubric. At most 2 queries."""
    newest = evaluator.versions.order_by("-number").first()
    if newest is None:
        return Wish()
    newest.evaluator = evaluator
    wish = _again(from_version(newest), evaluator=evaluator.ref)
    return _with_sources_of(wish, evaluator.project_id, newest.origin)


def of_draft(draft: RubricDraft) -> Wish:
    """The wish for a draft that is open in the editor. Needs its evaluator."""
    evaluator = draft.evaluator.ref if draft.evaluator else ""
    wish = _again(document_of(draft), draft=draft.ref, evaluator=evaluator)
    return _with_sources_of(wish, draft.project_id, draft.origin)


def _with_sources_of(wish: Wish, project: int, origin: dict[str, Any]) -> Wish:
    """With the prompt and the files of the generation before. At most 1 query."""
    if "job" not in origin:
        return wish
    job = RubricJob.objects.filter(project=project, ref=origin["job"]).first()
    if job is None:
        return wish
    before = wish_of(job)
    return wish.model_copy(update={"prompt": before.prompt, "files": before.files})


def _again(document: Document, *, draft: str = "", evaluator: str = "") -> Wish:
    is_safety = document.is_safety
    return Wish(
        name=document.name,
        title=document.title,
        category="safety" if is_safety else "quality",
        level="conversation" if document.level == "conversation" else "turn",
        scoring="boolean" if is_safety or document.is_checklist else "likert",
        earlier=document.dimensions,
        draft=draft,
        evaluator=evaluator,
    )


def base_of(project: Project, fields: Any) -> Wish:
    """What `draft` or `rubric` among the fields of an address or a form mean."""
    if ref := str(fields.get("draft", "")):
        return of_draft(queries.draft_in(project, ref))
    if ref := str(fields.get("rubric", "")):
        return of_rubric(queries.rubric_in(project, ref))
    return Wish()
