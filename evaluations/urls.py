from __future__ import annotations

from django.urls import path

from evaluations.views import agreement, evaluation, export, listing, row, run, wizard

EVALUATION = "evaluations/<slug:slug>/"
RUN = f"{EVALUATION}runs/<int:number>/"

# The wizard's addresses come first: no evaluation has the slug "new".
urlpatterns = [
    path("evaluations/new/", wizard.draft_new, name="draft_new"),
    path("evaluations/new/sample/", wizard.draft_sample, name="draft_sample"),
    path("evaluations/new/<str:ref>/delete/", wizard.draft_delete, name="draft_delete"),
    path(
        "evaluations/new/<str:ref>/try/<str:call>/", wizard.draft_try, name="draft_try"
    ),
    path("evaluations/new/<str:ref>/<str:step>/", wizard.draft_step, name="draft_step"),
    path("evaluations/", listing.evaluations, name="evaluations"),
    path(
        "evaluators/rubrics/<slug:ref>/agreement/",
        agreement.rubric_agreement,
        name="rubric_agreement",
    ),
    path(EVALUATION, evaluation.evaluation, name="evaluation"),
    path(f"{EVALUATION}edit/", evaluation.evaluation_rename, name="evaluation_rename"),
    path(f"{EVALUATION}copy/", evaluation.evaluation_copy, name="evaluation_copy"),
    path(
        f"{EVALUATION}delete/", evaluation.evaluation_delete, name="evaluation_delete"
    ),
    path(f"{EVALUATION}runs/new/", evaluation.run_add, name="run_add"),
    path(RUN, run.run, name="run"),
    path(f"{RUN}rows/<int:row>/", row.run_row, name="run_row"),
    path(f"{RUN}rows/<int:row>/label/", row.run_row_label, name="run_row_label"),
    path(f"{RUN}cancel/", run.run_cancel, name="run_cancel"),
    path(f"{RUN}pause/", run.run_pause, name="run_pause"),
    path(f"{RUN}resume/", run.run_resume, name="run_resume"),
    path(f"{RUN}retry/", run.run_retry, name="run_retry"),
    path(f"{RUN}again/", run.run_again, name="run_again"),
    path(f"{RUN}edit/", run.run_rename, name="run_rename"),
    path(f"{RUN}delete/", run.run_delete, name="run_delete"),
    path(f"{RUN}export/", export.run_export, name="run_export"),
    path(f"{RUN}raw/", export.run_raw, name="run_raw"),
]
