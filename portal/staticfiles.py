"""Static files with hashed names, compressed once when they are collected."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports between our ES modules to hashed names."""

    support_js_module_import_aggregation = True
    manifest_strict = False
