from __future__ import annotations

import pytest

from datasets import changes
from tests.factories import make_version, run_import

pytestmark = pytest.mark.django_db


def test_saved_changes_are_not_pending(project, owner):
    v1 = make_version(project, [{"query": f"q{n}"} for n in range(5)])
    changes.take_out(v1, owner, 2)
    v2 = run_import(changes.save(v1, owner))
    assert v2.row_count == 4
    assert changes.changes_of(v2, owner) == []
    changes.change_row(v2, owner, 4, {"query": "x"})
    v3 = run_import(changes.save(v2, owner))
    assert v3.row_count == 4
