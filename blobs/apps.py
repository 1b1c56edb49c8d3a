from __future__ import annotations

from django.apps import AppConfig


class BlobsConfig(AppConfig):
    name = "blobs"
