from __future__ import annotations

from django.urls import path

from rubrics.views import draft, generate, rubric, start, tries

ROOT = "evaluators/rubrics"

urlpatterns = [
    path(f"{ROOT}/new/", start.rubric_new, name="rubric_new"),
    path(f"{ROOT}/generate/", generate.rubric_generate, name="rubric_generate"),
    path(
        f"{ROOT}/generate/<slug:ref>/",
        generate.rubric_generation,
        name="rubric_generation",
    ),
    path(
        f"{ROOT}/generate/<slug:ref>/cancel/",
        generate.rubric_generation_cancel,
        name="rubric_generation_cancel",
    ),
    path(
        f"{ROOT}/generate/<slug:ref>/take/",
        generate.rubric_generation_take,
        name="rubric_generation_take",
    ),
    path(f"{ROOT}/drafts/<slug:ref>/", draft.rubric_draft, name="rubric_draft"),
    path(
        f"{ROOT}/drafts/<slug:ref>/discard/",
        draft.rubric_draft_discard,
        name="rubric_draft_discard",
    ),
    path(f"{ROOT}/tries/<slug:ref>/", tries.rubric_try, name="rubric_try"),
    path(
        f"{ROOT}/tries/<slug:ref>/cancel/",
        tries.rubric_try_cancel,
        name="rubric_try_cancel",
    ),
    path(f"{ROOT}/<slug:ref>/", rubric.rubric, name="rubric"),
    path(f"{ROOT}/<slug:ref>/edit/", rubric.rubric_edit, name="rubric_edit"),
    path(f"{ROOT}/<slug:ref>/copy/", rubric.rubric_copy, name="rubric_copy"),
    path(f"{ROOT}/<slug:ref>/delete/", rubric.rubric_delete, name="rubric_delete"),
    path(
        f"{ROOT}/<slug:ref>/v<int:number>.json",
        rubric.rubric_export,
        name="rubric_export",
    ),
]
