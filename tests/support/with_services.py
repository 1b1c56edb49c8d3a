"""Run a command with a private PostgreSQL and Redis for the tests:

python -m tests.support.with_services pytest …
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.needs import Missing, is_ci
from tests.support.servers import both


def main() -> int:
    try:
        with both() as services:
            env = {
                **os.environ,
                # Importing the product has named its own settings by now.
                "DJANGO_SETTINGS_MODULE": "tests.settings",
                "ASSAY_TEST_DATABASE_URL": services.database_url,
                "ASSAY_TEST_REDIS_URL": services.redis_url,
            }
            command = [sys.executable, "-m", *sys.argv[1:]]
            return subprocess.run(command, env=env, check=False).returncode
    except Missing as missing:
        print(f"Not run on PostgreSQL and Redis: {missing}")
        return 1 if is_ci() else 0


if __name__ == "__main__":
    sys.exit(main())
