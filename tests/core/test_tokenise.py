from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.punkt import split_sentences
from assay.data.synonyms import synonyms
from assay.data.tables import FOLDER
from assay.data.tokenise import (
    f1_tokens,
    nist_tokens,
    rouge_tokens,
    tokenise_pair,
    unicode_tokens,
    word_tokens,
)
from assay.scoring.metrics.porter import stem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't go, Mr. Smith.", ["Do", "n't", "go", ",", "Mr.", "Smith", "."]),
        ('He said "hi".', ["He", "said", "``", "hi", "''", "."]),
        ("I cannot wanna go", ["I", "can", "not", "wan", "na", "go"]),
        ("It costs $3,50 (net)", ["It", "costs", "$", "3,50", "(", "net", ")"]),
        ("Wait... what?!", ["Wait", "...", "what", "?", "!"]),
        ("dogs' and cat's", ["dogs", "'", "and", "cat", "'s"]),
    ],
)
def test_words_of_english_sentences(text, words):
    assert word_tokens(text) == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Hello there. How are you?", ["Hello there.", "How are you?"]),
        ("Dr. Jones met J. Smith. Fine.", ["Dr. Jones met J. Smith.", "Fine."]),
        ("He left (at last.) She stayed.", ["He left (at last.)", "She stayed."]),
        ("Version 2. then 3.", ["Version 2. then 3."]),
        ("", []),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == sentences


def test_nist_words_of_other_scripts():
    assert nist_tokens("Não custa 3,50.") == ["N", "ã", "o", "custa", "3,50."]
    assert nist_tokens("5 € &amp; x") == ["5", "€", "&", "x"]


def test_f1_and_rouge_tokens():
    assert f1_tokens("The cat, an animal!") == ["cat", "animal"]
    assert rouge_tokens("Der Fluß 2x-é") == ["der", "flu", "2x"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Não está", ["não", "está"]),
        ("ＡＢＣ １２", ["abc", "12"]),
        ("東京2020年", ["東", "京", "2020", "年"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Straße", ["strasse"]),
        ("don't", ["don", "t"]),
        ("👍", ["👍"]),
    ],
)
def test_unicode_tokens(text, tokens):
    assert unicode_tokens(text) == tokens


def test_auto_takes_foundry_only_when_no_text_loses_all_its_tokens():
    assert tokenise_pair("cat", "dog", f1_tokens).used == "foundry"
    assert tokenise_pair("cat", "the", f1_tokens).used == "unicode"
    assert tokenise_pair("café", "dog", f1_tokens).used == "unicode"
    assert tokenise_pair("café", "dog", f1_tokens, "foundry").used == "foundry"
    with pytest.raises(ValueError, match="Unknown tokenizer"):
        tokenise_pair("a", "b", f1_tokens, "nltk")  # type: ignore[arg-type]


@given(st.text())
def test_every_text_can_be_cut(text):
    for cut in (f1_tokens, rouge_tokens, word_tokens, nist_tokens, unicode_tokens):
        assert all(isinstance(token, str) and token for token in cut(text))


@given(st.text(st.characters(max_codepoint=126), max_size=200))
def test_sentences_lose_nothing_but_blanks(text):
    kept = "".join("".join(split_sentences(text)).split())
    assert kept == "".join(text.split())


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("flies", "fli"),
        ("dies", "die"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happily", "happili"),
        ("enjoy", "enjoy"),
        ("rationally", "ration"),
        ("geology", "geolog"),
        ("controlling", "control"),
        ("News", "news"),
        ("as", "as"),
    ],
)
def test_stems(word, stemmed):
    assert stem(word) == stemmed


def test_synonyms_know_inflected_forms():
    assert {"auto", "car", "automobile"} <= synonyms("cars")
    assert "goose" in synonyms("geese")
    assert synonyms("qqq") == {"qqq"}


def test_the_tables_are_small():
    assert all(table.stat().st_size < 400_000 for table in FOLDER.glob("*.xz"))


def test_importing_the_scores_reads_no_table_and_no_scipy():
    code = (
        "import sys, assay.scoring.evaluate, assay.scoring.summary\n"
        "from assay.data.synonyms import _wordnet\n"
        "assert _wordnet.cache_info().currsize == 0\n"
        "bad = {'nltk', 'scipy', 'django', 'pandas'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=FOLDER.parents[2])
