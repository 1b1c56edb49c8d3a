from __future__ import annotations

from hypothesis import settings

# Tables are read at their first use, which would count against the first example.
settings.register_profile("core", deadline=None)
settings.load_profile("core")
