"""What the columns are for, judged by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from assay.data.jsonx import JSONObject

Role = Literal[
    "query",
    "response",
    "ground_truth",
    "context",
    "messages",
    "media",
    "id",
    "note",
    "other",
]

# Words that mean a role without doubt. Vague ones ("source", "label") are left out:
# a finding must not rest on a guess.
_NAMES: Mapping[Role, str] = {
    "query": "query question prompt input user_input user_query user_question "
    "instruction user_message problem pergunta pregunta frage utterance",
    "response": "response answer output completion prediction output_text reply "
    "model_output actual_output generated_answer assistant_response generation "
    "model_answer resposta respuesta candidate generated_text",
    "ground_truth": "ground_truth groundtruth truth expected reference "
    "expected_output expected_answer golden gold target ideal reference_answer "
    "correct_answer expected_response golden_answer gold_answer right_answer",
    "context": "context contexts retrieved_contexts retrieval_context passages passage "
    "documents context_passages knowledge evidence retrieved_documents chunks contexto",
    "messages": "messages conversation chat dialog dialogue transcript",
    "media": "image image_url images image_urls picture photo img screenshot audio "
    "audio_data audio_url sound clip recording voice input_audio video video_url",
    "id": "id ids _id uid uuid guid idx index row row_id row_number row_no rownum no "
    "nr "
    "number line line_number lineno item_id example_id sample_id question_id record_id "
    "case_id test_id request_id trace_id span_id query_id qid pk unnamed0 hash sha256",
    "note": "category categories topic topics subject difficulty level source sources "
    "tag tags split score scores rating date time created created_at updated_at "
    "timestamp model model_name note notes comment comments annotator author lang "
    "language locale domain dataset version metadata meta weight priority status",
}


def fold(name: str) -> str:
    """A name without case, blanks, dots, dashes and underscores."""
    return re.sub(r"[\W_]+", "", name).casefold()


_ROLES: Mapping[str, Role] = {
    fold(name): role for role, names in _NAMES.items() for name in names.split()
}


@lru_cache(maxsize=4096)
def role_of(name: str) -> Role:
    folded = fold(name)
    if not folded:
        return "id"
    return "note" if "metadata" in folded else _ROLES.get(folded, "other")


MEDIA_KINDS = frozenset({"image", "audio"})


def media_columns(columns: Sequence[Mapping]) -> frozenset[str]:
    """Names of columns that hold pictures or sound, by their name or their kind."""
    return frozenset(
        name
        for column in columns
        if isinstance(name := column.get("name"), str)
        and (column.get("kind") in MEDIA_KINDS or role_of(name) == "media")
    )


def of_role(values: JSONObject, role: Role) -> list[str]:
    """Names of the columns of this row with `role`, in order."""
    return [name for name in values if role_of(name) == role]
