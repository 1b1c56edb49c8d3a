from __future__ import annotations

from django.urls import path

from evaluators import views

urlpatterns = [
    path("evaluators/", views.evaluators, name="evaluators"),
    path("evaluators/judges/", views.judges, name="evaluator_judges"),
    path("evaluators/<slug:slug>/", views.evaluator, name="evaluator"),
]
