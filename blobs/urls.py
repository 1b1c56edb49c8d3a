from __future__ import annotations

from django.urls import path

from blobs import views

urlpatterns = [
    path("media/<str:sha256>", views.media, name="media"),
]
