"""What the reader makes of each file of `tests/data/cases/data`.

`SOURCES.md` there says where a file is from and what people may expect of it; where it
leaves a choice, `CHOICES` tells which was made.
"""

from __future__ import annotations

from typing import NamedTuple


class Expected(NamedTuple):
    """Rows and their columns; codes of warnings; codes and lines of what is wrong.

    A file with something wrong is refused, or its good rows are taken on request.
    """

    rows: int
    columns: list[str]
    notes: list[str] = []
    wrong: list[tuple[str, int | None]] = []


FILES = {
    "az_code_vuln_braces.jsonl": Expected(2, ["query", "response"]),
    "az_code_vuln_single_row.jsonl": Expected(1, ["query", "response"]),
    "az_conversation_leading_blank_line.jsonl": Expected(
        2, ["conversation"], notes=["blank_lines"]
    ),
    "az_functions_chat.jsonl": Expected(10, ["messages", "functions"]),
    "az_graders_pretty_array.jsonl": Expected(
        5, ["query", "ground_truth", "response"], notes=["json_array"]
    ),
    "az_products_long_descriptions.csv": Expected(
        20, ["id", "name", "price", "category", "brand", "description"]
    ),
    "az_qr.csv": Expected(3, ["query", "response"]),
    "az_quarterly_results_thousands.csv": Expected(
        60,
        [
            "name",
            "NSE_code",
            "BSE_code",
            "sector",
            "industry",
            "revenue",
            "operating_expenses",
            "operating_profit",
            "operating_profit_margin",
            "depreciation",
            "interest",
            "profit_before_tax",
            "tax",
            "net_profit",
            "EPS",
            "profit_TTM",
            "EPS_TTM",
        ],
    ),
    "az_transcript_raw_newlines_in_string.jsonl": Expected(
        1, ["query", "response", "context"], wrong=[("open_string", 2)]
    ),
    "az_truth_needs_mapping.jsonl": Expected(13, ["query", "truth"]),
    "azsdk_korean_dotted_column.jsonl": Expected(1, ["query", "__outputs.response"]),
    "azsearch_ground_truth_citations.jsonl": Expected(6, ["question", "truth"]),
    "csvkit_cr_only_newlines.csv": Expected(2, ["a", "b", "c"]),
    "csvkit_latin1_no_final_newline.csv": Expected(
        2, ["a", "b", "c"], notes=["encoding_guessed"]
    ),
    "csvkit_null_byte.csv": Expected(1, ["a", "b", "c"], notes=["nul"]),
    "csvkit_ragged_rows.csv": Expected(
        2,
        ["column_a", "column_b", "column_c"],
        notes=["missing_values"],
        wrong=[("too_many_values", 2)],
    ),
    "csvkit_utf16_little.csv": Expected(2, ["a", "b", "c"]),
    "deepeval_convo_goldens.csv": Expected(
        15,
        [
            "scenario",
            "turns",
            "expected_outcome",
            "user_description",
            "context",
            "name",
            "comments",
        ],
    ),
    "deepeval_goldens_crlf_json_cells.csv": Expected(
        15,
        [
            "input",
            "actual_output",
            "expected_output",
            "retrieval_context",
            "context",
            "tools_called",
            "expected_tools",
            "name",
            "comments",
            "source_file",
        ],
    ),
    "deepeval_test_run_nested.json": Expected(
        1,
        [
            "testCases",
            "conversationalTestCases",
            "metricsScores",
            "testPassed",
            "testFailed",
            "runDuration",
            "evaluationCost",
        ],
        notes=["json_document"],
    ),
    "enem_pt_2024.jsonl": Expected(
        12,
        [
            "id",
            "exam",
            "IU",
            "ledor",
            "question",
            "alternatives",
            "label",
            "figures",
            "description",
        ],
    ),
    "evals_git_lfs_pointer.jsonl": Expected(0, [], wrong=[("lfs_pointer", 1)]),
    "excel_workbook_named.csv": Expected(0, [], wrong=[("xlsx", None)]),
    "fr_backslash_escaped_quotes.csv": Expected(
        3, ["ID", "Test"], notes=["header_cleaned"]
    ),
    "fr_blank_header.csv": Expected(
        2, ["id", "column_2", "age"], notes=["empty_header"]
    ),
    "fr_comment_line_before_header.csv": Expected(
        0,
        [],
        wrong=[("too_many_values", 2), ("too_many_values", 3), ("too_many_values", 4)],
    ),
    "fr_french_latin1_decimal_comma.csv": Expected(
        60,
        [
            "Classement",
            "Quartier",
            "Date",
            "Année",
            "Occupancy rate",
            "Average Price",
            "RevPAR",
            "Source",
        ],
        notes=["encoding_guessed"],
    ),
    "fr_header_only.csv": Expected(0, [], wrong=[("no_rows", None)]),
    "fr_iso_8859_7_greek.csv": Expected(
        4, ["id", "age", "name"], notes=["encoding_guessed"]
    ),
    "fr_italian_codes_semicolon.csv": Expected(
        5,
        [
            "comune",
            "codice_regione",
            "codice_provincia",
            "codice_comune",
            "denominazione_comune",
            "sigla_provincia",
            "data_entrata_in_carica",
        ],
    ),
    "fr_large_cells.csv": Expected(19, ["Description", "status"]),
    "fr_many_blank_rows.csv": Expected(2, ["id", "name", "age"], notes=["blank_rows"]),
    "fr_timezones.csv": Expected(4, ["datetime", "time"], notes=["header_cleaned"]),
    "inspect_mcq_array.json": Expected(
        1, ["input", "target", "choices"], notes=["json_array"]
    ),
    "inspect_metadata_json_cell.csv": Expected(
        1, ["input", "target", "label", "metadata"]
    ),
    "inspect_security_guide.jsonl": Expected(16, ["input", "target"]),
    "inspect_target_string_or_list.jsonl": Expected(2, ["input", "target"]),
    "inspect_theory_of_mind_100.jsonl": Expected(100, ["input", "target"]),
    "jl_bom_blank_crlf.jsonl": Expected(
        3, ["query", "response", "ground_truth"], notes=["blank_lines"]
    ),
    "jl_deep_nesting.jsonl": Expected(
        1,
        ["query", "response", "ground_truth"],
        wrong=[("too_deep", 1), ("too_deep", 2)],
    ),
    "jl_duplicate_keys.jsonl": Expected(
        1, ["query", "response"], wrong=[("duplicate_key", 1)]
    ),
    "jl_escaped_nul.jsonl": Expected(2, ["query", "response"], notes=["nul"]),
    "jl_huge_numbers.jsonl": Expected(
        3, ["query", "id", "x"], wrong=[("huge_number", 4)]
    ),
    "jl_lone_surrogates.jsonl": Expected(
        2, ["query", "response"], notes=["half_character"]
    ),
    "jl_mixed_schemas.jsonl": Expected(
        5, ["query", "response", "context", "score", "question", "answer"]
    ),
    "jl_mixed_valid_invalid_100.jsonl": Expected(
        90,
        ["query", "response", "ground_truth"],
        wrong=[
            ("property_name", 10),
            ("property_name", 20),
            ("property_name", 30),
            ("property_name", 40),
            ("property_name", 50),
            ("property_name", 60),
            ("property_name", 70),
            ("property_name", 80),
            ("property_name", 90),
            ("property_name", 100),
        ],
    ),
    "jl_nan_infinity.jsonl": Expected(
        1,
        ["query", "response", "score"],
        wrong=[
            ("not_finite", 1),
            ("not_finite", 2),
            ("not_finite", 3),
            ("not_finite", 4),
        ],
    ),
    "jl_number_scores_as_text.jsonl": Expected(4, ["query", "response", "human_score"]),
    "jl_python_repr.jsonl": Expected(0, [], wrong=[("single_quotes", 1)]),
    "jl_rows_are_arrays.jsonl": Expected(0, [], wrong=[("not_an_object", 1)]),
    "jl_rtl_bidi_zalgo.jsonl": Expected(1, ["query", "response", "ground_truth"]),
    "jl_trailing_commas.jsonl": Expected(
        3, ["query", "response", "ground_truth"], notes=["trailing_comma"]
    ),
    "jl_truncated_last_line.jsonl": Expected(
        3, ["query", "response", "ground_truth"], wrong=[("cut_off", 4)]
    ),
    "jts_i_string_UTF-16LE_with_BOM.json": Expected(
        0, [], wrong=[("not_an_object", 1)]
    ),
    "jts_i_structure_500_nested_arrays.json": Expected(
        0, [], wrong=[("not_an_object", 1)]
    ),
    "jts_n_number_NaN.json": Expected(0, [], wrong=[("not_an_object", 1)]),
    "jts_n_object_trailing_comma.json": Expected(0, [], wrong=[("property_name", 1)]),
    "jts_n_string_invalid_utf8_after_escape.json": Expected(
        0, [], notes=["encoding_guessed"], wrong=[("not_an_object", 1)]
    ),
    "jts_n_structure_100000_opening_arrays.json": Expected(
        0, [], wrong=[("not_an_object", 1)]
    ),
    "jts_n_structure_single_star.json": Expected(0, [], wrong=[("not_json", 1)]),
    "jts_y_object_duplicated_key.json": Expected(0, [], wrong=[("duplicate_key", 1)]),
    "jts_y_string_null_escape.json": Expected(0, [], wrong=[("not_an_object", 1)]),
    "langfuse_autogen.json": Expected(
        1, ["trace", "observations"], notes=["json_document"]
    ),
    "langfuse_langchain_messages.json": Expected(
        1, ["messages"], notes=["json_document"]
    ),
    "langfuse_microsoft_agent_otel.json": Expected(
        1, ["trace", "observations"], notes=["json_document"]
    ),
    "langfuse_openai_agents.json": Expected(
        1, ["trace", "observations"], notes=["json_document"]
    ),
    "mm_audio_broken.jsonl": Expected(7, ["audio_data", "expected"]),
    "mm_audio_expected_foundry.jsonl": Expected(3, ["audio_data", "expected"]),
    "mm_broken_media.jsonl": Expected(12, ["image_url", "caption"]),
    "mm_chat_image_audio_foundry.jsonl": Expected(2, ["messages"]),
    "mm_image_caption_foundry.jsonl": Expected(5, ["image_url", "caption"]),
    "mm_ssrf_urls.jsonl": Expected(15, ["image_url", "caption"]),
    "openai_chat_log_tool_calls.jsonl": Expected(
        4, ["id", "model", "messages", "usage"]
    ),
    "openai_toy_chat.jsonl": Expected(4, ["messages"]),
    "otel_genai_spans.jsonl": Expected(
        4,
        [
            "trace_id",
            "span_id",
            "parent_span_id",
            "name",
            "start_time",
            "end_time",
            "attributes",
        ],
    ),
    "pf_empty_0_bytes.jsonl": Expected(0, [], wrong=[("empty_file", None)]),
    "pf_groundedness_context_list.jsonl": Expected(
        2, ["question", "variant_id", "line_number", "answer", "context"]
    ),
    "pf_japanese_mixed.jsonl": Expected(2, ["text"]),
    "pf_missing_ground_truth.jsonl": Expected(3, ["question", "context", "answer"]),
    "pf_monitoring_utf8_bom_nbsp.jsonl": Expected(
        5, ["question", "chat_history", "answer", "documents", "context"]
    ),
    "pf_multi_turn_history.jsonl": Expected(1, ["chat_history", "metrics"]),
    "pf_only_wrong_column.jsonl": Expected(1, ["pdf_url"]),
    "pf_results_dotted_columns_nulls.jsonl": Expected(
        10,
        [
            "outputs.content_safety.hate_unfairness",
            "outputs.content_safety.hate_unfairness_score",
            "outputs.content_safety.hate_unfairness_reason",
            "outputs.content_safety.violence",
            "outputs.content_safety.violence_score",
            "outputs.content_safety.violence_reason",
            "outputs.content_safety.sexual",
            "outputs.content_safety.sexual_score",
            "outputs.content_safety.sexual_reason",
            "outputs.content_safety.self_harm",
            "outputs.content_safety.self_harm_score",
            "outputs.content_safety.self_harm_reason",
        ],
    ),
    "pf_vision_chat_local_paths.jsonl": Expected(2, ["chat_history", "question"]),
    "promptfoo_images_raw_base64.csv": Expected(2, ["index", "label", "image_base64"]),
    "promptfoo_metadata_arrays.csv": Expected(
        3,
        [
            "topic",
            "__expected1",
            "__expected2",
            "__metadata:category",
            "__metadata:tags[]",
        ],
    ),
    "promptfoo_rich_metadata.csv": Expected(
        10,
        [
            "question",
            "expected_answer",
            "__metadata:category",
            "__metadata:difficulty",
            "__metadata:skills[]",
            "__metadata:grade_level",
            "__metadata:time_estimate",
        ],
    ),
    "qr_bom_sep_line.csv": Expected(3, ["query", "response", "ground_truth"]),
    "qr_cell_200kB.csv": Expected(2, ["query", "response"]),
    "qr_headers_whitespace_case.csv": Expected(
        1,
        ["Query", "RESPONSE", "Ground Truth", "ground_truth"],
        notes=["header_cleaned"],
    ),
    "qr_html_download_named.csv": Expected(0, [], wrong=[("html", 1)]),
    "qr_html_markdown_xss.csv": Expected(4, ["query", "response"]),
    "qr_mixed_newlines.csv": Expected(3, ["query", "response"]),
    "qr_nul_in_utf8.csv": Expected(2, ["query", "response"], notes=["nul"]),
    "qr_number_like_text.csv": Expected(5, ["id", "query", "response", "ground_truth"]),
    "qr_sep_line_excel.csv": Expected(3, ["query", "response", "ground_truth"]),
    "qr_single_column.csv": Expected(3, ["query"]),
    "qr_tabs_named.csv": Expected(3, ["query", "response", "ground_truth"]),
    "qr_trailing_commas.csv": Expected(
        3, ["query", "response"], notes=["nameless_columns"]
    ),
    "qr_zero_width_header.csv": Expected(
        1, ["query", "response"], notes=["header_cleaned", "header_cleaned"]
    ),
    "qr_zip_slip_named.csv": Expected(0, [], wrong=[("zip", None)]),
    "ragas_discount_benchmark.csv": Expected(
        10, ["id", "customer_profile", "expected_discount", "description"]
    ),
    "ragas_support_triage.csv": Expected(20, ["id", "text", "labels", "priority"]),
    "xquad_ar.jsonl": Expected(20, ["id", "query", "context", "ground_truth"]),
    "xquad_ar_utf16le_tab_excel_unicode.csv": Expected(
        20, ["id", "query", "context", "ground_truth"]
    ),
    "xquad_es_cp1252_semicolon.csv": Expected(
        20, ["id", "query", "context", "ground_truth"], notes=["encoding_guessed"]
    ),
    "xquad_ru_cp1251_semicolon.csv": Expected(
        20, ["id", "query", "context", "ground_truth"], notes=["encoding_guessed"]
    ),
    "xquad_zh_excel_utf8_bom_crlf.csv": Expected(
        20, ["id", "query", "context", "ground_truth"]
    ),
}

CHOICES = {
    "az_graders_pretty_array.jsonl": "read as 5 rows, with a warning",
    "az_transcript_raw_newlines_in_string.jsonl": "one problem; 1 good row on request",
    "csvkit_latin1_no_final_newline.csv": "read as Windows-1252, with a warning",
    "csvkit_null_byte.csv": "NUL kept, escaped where it is stored, with a warning",
    "csvkit_ragged_rows.csv": "line 2 refused, line 3 lacks a column with a warning",
    "csvkit_utf16_little.csv": "read by its mark",
    "deepeval_test_run_nested.json": "one row, its trees are JSON values",
    "fr_backslash_escaped_quotes.csv": "a backslash is text, as in the CSV standard",
    "fr_comment_line_before_header.csv": "refused by line; lines can be skipped",
    "fr_french_latin1_decimal_comma.csv": "numbers stay text",
    "fr_header_only.csv": "refused",
    "fr_iso_8859_7_greek.csv": "a guess that asks to be checked, never silent",
    "inspect_mcq_array.json": "read as one row, with a warning",
    "jl_deep_nesting.jsonl": "lines 1 and 2 refused above 200 levels",
    "jl_duplicate_keys.jsonl": "line 1 refused; good rows on request",
    "jl_escaped_nul.jsonl": "NUL kept, escaped where it is stored, with a warning",
    "jl_huge_numbers.jsonl": "line 4 refused; other numbers keep their digits",
    "jl_lone_surrogates.jsonl": "kept, escaped where it is stored, with a warning",
    "jl_mixed_valid_invalid_100.jsonl": "refused with all lines; good rows on request",
    "jl_nan_infinity.jsonl": "lines 1 to 4 refused",
    "jl_python_repr.jsonl": "refused with one message",
    "jl_trailing_commas.jsonl": "accepted without the commas, with a warning",
    "jts_i_string_UTF-16LE_with_BOM.json": "read as UTF-16, refused as a list",
    "jts_i_structure_500_nested_arrays.json": "refused as a list",
    "jts_n_string_invalid_utf8_after_escape.json": "encoding guessed, a list: refused",
    "jts_y_object_duplicated_key.json": "refused",
    "langfuse_autogen.json": "one row: trace and observations",
    "langfuse_langchain_messages.json": "one row: messages",
    "langfuse_microsoft_agent_otel.json": "one row: trace and observations",
    "langfuse_openai_agents.json": "one row: trace and observations",
    "otel_genai_spans.jsonl": "one row for each span",
    "promptfoo_images_raw_base64.csv": "the reader keeps text; the import finds images",
    "qr_html_download_named.csv": "refused as a web page",
    "qr_nul_in_utf8.csv": "NUL kept, escaped where it is stored, with a warning",
    "qr_number_like_text.csv": "every cell stays text",
    "qr_trailing_commas.csv": "nameless empty columns left out, with a warning",
    "qr_zero_width_header.csv": "names cleaned, with a warning",
    "xquad_ar_utf16le_tab_excel_unicode.csv": "read by its mark",
    "xquad_ru_cp1251_semicolon.csv": "guessed rightly, with a warning",
}
