"""Changes of state: drafts, versions, copies."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from assay.scoring.rubric.definition import rubric_definition
from assay.scoring.rubric.spec import RubricProblem, RubricSpec
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.usage import Use, uses_of
from rubrics.documents import Document, from_version
from rubrics.models import RubricDraft, RubricJob
from rubrics.naming import document_problems
from workspace.models import JobState, Project, User

MOST_SHOWN = 90
"""Characters of the name that runs show: metrics add words to it."""
WRITTEN, IMPORTED, COPIED = "written", "imported", "copied"


class ConflictError(Exception):
    """Somebody saved this draft from another page meanwhile."""

    def __init__(self, draft: RubricDraft) -> None:
        super().__init__(draft.ref)
        self.draft = draft


class NotReadyError(Exception):
    """The draft cannot become a version yet."""

    def __init__(self, problems: list[RubricProblem]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = problems


class NothingChangedError(Exception):
    """The draft says what its version says already."""

    def __init__(self, version: EvaluatorVersion) -> None:
        super().__init__(str(version))
        self.version = version


class NewerVersionError(Exception):
    """A version was saved after the one that the draft was made from."""

    def __init__(self, version: EvaluatorVersion) -> None:
        super().__init__(str(version))
        self.version = version


class InUseError(Exception):
    """Runs use the rubric that should be deleted."""

    def __init__(self, uses: list[Use]) -> None:
        super().__init__(f"{len(uses)} uses")
        self.uses = uses


def create_draft(
    project: Project,
    document: Document,
    *,
    by: User,
    origin: dict[str, Any] | None = None,
) -> RubricDraft:
    """A draft of a new rubric."""
    return RubricDraft.objects.create(
        project=project,
        document=document.model_dump(mode="json"),
        origin=origin or {"kind": WRITTEN},
        by=by,
    )


def edit(version: EvaluatorVersion, *, by: User) -> RubricDraft:
    """The draft of the next version that `by` has open, or a new one from `version`.

    Needs the version's evaluator with its project.
    """
    draft, _created = RubricDraft.objects.get_or_create(
        evaluator=version.evaluator,
        by=by,
        defaults={
            "project": version.evaluator.project,
            "base": version,
            "document": from_version(version).model_dump(mode="json"),
            "origin": {"kind": WRITTEN},
        },
    )
    return draft


def document_of(draft: RubricDraft) -> Document:
    return Document.model_validate(draft.document)


@transaction.atomic
def save_draft(
    draft: RubricDraft, document: Document, *, revision: int, page: str = ""
) -> RubricDraft:
    """Save when nobody saved since `revision` from another page.

    Raises `ConflictError`, and `RubricDraft.DoesNotExist` when it was discarded.
    """
    current = RubricDraft.objects.select_for_update().get(pk=draft.pk)
    same_page = bool(page) and current.saved_from == page
    if current.revision != revision and not same_page:
        raise ConflictError(current)
    if document.dimensions != document_of(current).dimensions:
        # Who edits the definition has seen that the input was poor.
        current.origin = {k: v for k, v in current.origin.items() if k != "warnings"}
    current.document = document.model_dump(mode="json")
    current.revision += 1
    current.saved_from = page
    current.save()
    return current


@transaction.atomic
def publish(
    draft: RubricDraft, *, by: User, knows_of: int | None = None
) -> EvaluatorVersion:
    """Save the draft as the next version and end it.

    Raises `NotReadyError`, `NothingChangedError`, and `NewerVersionError` unless the
    person `knows_of` the newest version by its number.
    """
    draft = RubricDraft.objects.select_for_update().get(pk=draft.pk)
    document = document_of(draft)
    spec, found = document_problems(draft, document)
    if spec is None or found:
        raise NotReadyError(found)
    evaluator = draft.evaluator
    newest = None
    if evaluator is not None:
        evaluator = Evaluator.objects.select_for_update().get(pk=evaluator.pk)
        newest = evaluator.versions.order_by("-number").first()
        _check_newest(draft, document, spec, newest, knows_of=knows_of)
    evaluator = _named(draft, evaluator, document, by)
    version = _add_version(
        evaluator,
        spec,
        origin=draft.origin,
        by=by,
        after=newest.number if newest else 0,
    )
    _keep_tries(draft, version)
    draft.delete()
    return version


def _check_newest(
    draft: RubricDraft,
    document: Document,
    spec: RubricSpec,
    newest: EvaluatorVersion | None,
    *,
    knows_of: int | None,
) -> None:
    if newest is None:
        return
    if newest.pk != draft.base_id and newest.number != knows_of:
        raise NewerVersionError(newest)
    before = from_version(newest)
    about = ("name", "title", "description")
    same_words = all(getattr(document, n) == getattr(before, n) for n in about)
    if same_words and is_same(spec, newest):
        raise NothingChangedError(newest)


def is_same(spec: RubricSpec, version: EvaluatorVersion) -> bool:
    """Whether `version` judges as `spec` does; keys make no difference."""
    other = version.evaluator_definition.rubric
    return other is not None and keyless(spec) == keyless(other)


def keyless(spec: RubricSpec) -> RubricSpec:
    plain = tuple(d.model_copy(update={"key": ""}) for d in spec.dimensions)
    return spec.model_copy(update={"dimensions": plain})


def _named(
    draft: RubricDraft, evaluator: Evaluator | None, document: Document, by: User
) -> Evaluator:
    if evaluator is None:
        evaluator = Evaluator(
            project=draft.project, kind=Evaluator.Kind.RUBRIC, created_by=by
        )
    evaluator.name = document.name
    evaluator.title = document.title
    evaluator.description = document.description
    try:
        with transaction.atomic():
            evaluator.save()
    except IntegrityError:
        # Somebody took the name since it was looked up.
        _spec, found = document_problems(draft, document)
        raise NotReadyError(found) from None
    return evaluator


def _add_version(
    evaluator: Evaluator,
    spec: RubricSpec,
    *,
    origin: dict[str, Any],
    by: User,
    after: int,
) -> EvaluatorVersion:
    version = EvaluatorVersion(
        evaluator=evaluator, number=after + 1, origin=origin, created_by=by
    )
    name = (evaluator.title or evaluator.name)[:MOST_SHOWN]
    definition = rubric_definition(version.ref, name, evaluator.description, spec)
    version.definition = definition.model_dump(mode="json")
    version.save()
    return version


def _keep_tries(draft: RubricDraft, version: EvaluatorVersion) -> None:
    """Tries of exactly this rubric are from now on tries of the version."""
    spec = version.evaluator_definition.rubric
    tries = RubricJob.objects.filter(
        draft=draft, kind=RubricJob.Kind.TRY, state=JobState.DONE
    )
    for job in tries:
        tried = RubricSpec.model_validate(job.request["rubric"])
        if spec is not None and keyless(tried) == keyless(spec):
            job.draft = None
            job.request["version"] = version.ref
            job.save(update_fields=["draft", "request"])


def discard(draft: RubricDraft) -> None:
    """Throw the draft away, with what was tried on it."""
    draft.delete()


@transaction.atomic
def delete(evaluator: Evaluator) -> None:
    """Remove the rubric with its versions. Raises `InUseError` when runs use one, or
    evaluations whose runs were deleted."""
    versions = list(evaluator.versions.select_for_update())
    uses = uses_of(versions)
    if uses:
        raise InUseError(uses)
    refs = [version.ref for version in versions]
    RubricJob.objects.filter(
        project=evaluator.project_id, draft=None, request__version__in=refs
    ).delete()
    try:
        with transaction.atomic():
            evaluator.delete()
    except ProtectedError:
        raise InUseError([]) from None


@transaction.atomic
def copy_to_project(
    version: EvaluatorVersion, project: Project, *, name: str, by: User
) -> EvaluatorVersion:
    """`version` as the first one of a new rubric in `project`.

    The name must be free there. Needs the version's evaluator with its project.
    """
    source = version.evaluator
    spec = version.evaluator_definition.rubric
    assert spec is not None
    evaluator = Evaluator.objects.create(
        project=project,
        name=name,
        title=source.title,
        description=source.description,
        kind=Evaluator.Kind.RUBRIC,
        created_by=by,
    )
    origin = {
        "kind": COPIED,
        "project": source.project.name,
        "name": source.name,
        "version": version.number,
    }
    return _add_version(evaluator, spec, origin=origin, by=by, after=0)
