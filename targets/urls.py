from __future__ import annotations

from django.urls import path

from targets.views import connections, deployments, tests

CONNECTION = "models/connections/<str:ref>/"
MODEL = "models/<slug:slug>/"

urlpatterns = [
    path("models/", connections.models, name="models"),
    path("models/connect/", connections.connection_new, name="connection_new"),
    path("models/offered/", connections.connect_offered, name="connect_offered"),
    path(f"{CONNECTION}edit/", connections.connection_edit, name="connection_edit"),
    path(
        f"{CONNECTION}delete/", connections.connection_delete, name="connection_delete"
    ),
    path(f"{CONNECTION}add/", deployments.deployment_new, name="deployment_new"),
    path("models/tests/<str:ref>/", tests.test_call, name="test_call"),
    path(MODEL, deployments.deployment, name="deployment"),
    path(f"{MODEL}edit/", deployments.deployment_edit, name="deployment_edit"),
    path(f"{MODEL}delete/", deployments.deployment_delete, name="deployment_delete"),
    path(f"{MODEL}test/", tests.deployment_test, name="deployment_test"),
]
