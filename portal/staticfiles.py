"""Static files with hashed names, compressed once when they are collected."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORT = r"""(?P<matched>import\s*["'](?P<url>\./.*?)["']\s*;)"""


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports between our own ES modules to hashed names.

    Django's flag for that looks at the scripts of every package and stops at an
    example in a comment of django-htmx.
    """

    manifest_strict = False
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", ((IMPORT, 'import "%(url)s";'),)),
    )
