"""Settings of the tests: the product's own, on a data folder that goes away."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="assay-test-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["ASSAY_DATA_DIR"] = _folder
os.environ["DATABASE_URL"] = os.environ.get("ASSAY_TEST_DATABASE_URL", "")
os.environ["REDIS_URL"] = os.environ.get("ASSAY_TEST_REDIS_URL", "")
for _name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ASSAY_SIMULATOR_URL", "PORT"):
    os.environ.pop(_name, None)

from portal.settings import *  # noqa: E402, F403
from portal.settings import DATA_DIR, DATABASES, STATIC_ROOT, STORAGES  # noqa: E402

STATIC_ROOT.mkdir(exist_ok=True)

if not os.environ["DATABASE_URL"]:
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
}
