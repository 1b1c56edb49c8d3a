"""What an import found, as it is stored with the version and shown on its page."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.data.jsonx import JSONObject
from assay.data.profile import Kind
from assay.data.records import Detected, Problem

MAX_LISTED = 100


@dataclass(slots=True)
class Report:
    """Problems refuse the file, unless `skips_bad`; notes only tell something."""

    skips_bad: bool = False
    detected: Detected | None = None
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    notes: list[Problem] = field(default_factory=list)
    note_count: int = 0
    good_rows: int = 0
    rows_with: dict[str, int] = field(default_factory=dict)
    media: dict[str, int] = field(default_factory=dict)
    is_canceled: bool = False
    is_broken: bool = False

    @property
    def refuses(self) -> bool:
        """True when the rows may not be kept."""
        return self.problem_count > 0 and not (self.skips_bad and self.good_rows)

    def add(self, problem: Problem) -> None:
        if problem.is_warning:
            self.note_count += 1
            if len(self.notes) < MAX_LISTED:
                self.notes.append(problem)
            return
        self.problem_count += 1
        if len(self.problems) < MAX_LISTED:
            self.problems.append(problem)

    def count_row(self, kinds: set[Kind]) -> None:
        for kind in kinds & {"image", "audio", "chat"}:
            self.rows_with[kind] = self.rows_with.get(kind, 0) + 1

    def summary(self) -> str:
        """One sentence for the job."""
        if self.is_canceled:
            return "The import was canceled."
        if self.is_broken:
            return "The import failed on the server. Nothing is wrong with the file."
        if not self.refuses:
            return ""
        return self.problems[0].message if self.problems else ""

    def as_json(self) -> JSONObject:
        return {
            "detected": self.detected.as_json() if self.detected else None,
            "problems": [problem.as_json() for problem in self.problems],
            "problem_count": self.problem_count,
            "notes": [note.as_json() for note in self.notes],
            "note_count": self.note_count,
            "good_rows": self.good_rows,
            "rows_with": dict(self.rows_with),
            "media": dict(self.media),
            "is_foreign": bool(self.detected and self.detected.refusal),
            "is_canceled": self.is_canceled,
            "is_broken": self.is_broken,
            "skips_bad": self.skips_bad,
        }
