"""What is wrong with a draft: its rubric, and its name within the project."""

from __future__ import annotations

from assay.data.text import Sentence
from assay.data.text import gettext_noop as _
from assay.scoring.rubric.spec import RubricProblem, RubricSpec, name_problem
from evaluators.models import Evaluator
from rubrics.documents import MAX_TITLE, Document, read
from rubrics.models import RubricDraft
from workspace.models import Project


def taken_by(
    project: Project, name: str, *, other_than: Evaluator | None = None
) -> Evaluator | None:
    """The evaluator of the project that has this name, in any case. 1 query."""
    found = Evaluator.objects.filter(project=project, name__iexact=name)
    if other_than is not None:
        found = found.exclude(pk=other_than.pk)
    return found.first()


def name_problems(
    project: Project, name: str, *, other_than: Evaluator | None = None
) -> list[RubricProblem]:
    """1 query."""
    if not name:
        return [RubricProblem("name", Sentence(_("Give the rubric a name.")))]
    wrong = name_problem(name)
    if wrong is not None:
        return [RubricProblem("name", wrong)]
    owner = taken_by(project, name, other_than=other_than)
    if owner is None:
        return []
    message = _('The name "%(name)s" is taken. Choose another one.')
    return [RubricProblem("name", Sentence(message, {"name": owner.name}))]


def document_problems(
    draft: RubricDraft, document: Document
) -> tuple[RubricSpec | None, list[RubricProblem]]:
    """The rubric of the draft, and everything that stands against saving it as a
    version. 1 query."""
    spec, found = read(document)
    about = name_problems(draft.project, document.name, other_than=draft.evaluator)
    if len(document.title) > MAX_TITLE:
        message = _("The display name has more than %(most)s characters.")
        about.append(RubricProblem("title", Sentence(message, {"most": MAX_TITLE})))
    return spec, [*about, *found]
