from __future__ import annotations

from django.urls import path

from evaluations.views import wizard

urlpatterns = [
    path("evaluations/new/", wizard.draft_new, name="draft_new"),
    path("evaluations/new/sample/", wizard.draft_sample, name="draft_sample"),
    path("evaluations/new/<str:ref>/delete/", wizard.draft_delete, name="draft_delete"),
    path(
        "evaluations/new/<str:ref>/estimate/",
        wizard.draft_estimate,
        name="draft_estimate",
    ),
    path(
        "evaluations/new/<str:ref>/try/<str:call>/", wizard.draft_try, name="draft_try"
    ),
    path("evaluations/new/<str:ref>/<str:step>/", wizard.draft_step, name="draft_step"),
]
