"""Reference files: text out of every kind, a sentence for every one that has none."""

from __future__ import annotations

import io
import zipfile

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from assay.scoring.rubric.generate import MAX_SOURCE
from rubrics import extract, sources
from rubrics.extract import UnreadableError
from rubrics.sources import Upload, clean_name, file_of, read_files
from tests import factories

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx(body: str, *, name: str = "word/document.xml", head: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        text = (
            f'{head}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
        )
        archive.writestr(name, text)
    return buffer.getvalue()


def paragraph(*texts: str) -> str:
    return f"<w:p>{''.join(f'<w:r><w:t>{t}</w:t></w:r>' for t in texts)}</w:p>"


def pdf(*pages: str, password: str | None = None) -> bytes:
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(width=300, height=300)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 200 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    if password is not None:
        writer.encrypt(password, owner_password="owner", algorithm="AES-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


READ = [
    ("rules.txt", b"Dinner from 17:00.\r\nNo dogs.", "Dinner from 17:00.\nNo dogs."),
    ("rules.md", b"# Rules\n\n- Be brief.", "# Rules\n\n- Be brief."),
    ("rules.csv", b"rule,weight\nbrief,3\n", "rule,weight\nbrief,3"),
    ("rules.json", b'{"rule": "brief"}', '{"rule": "brief"}'),
    ("rules.jsonl", b'{"a":1}\n{"a":2}\n', '{"a":1}\n{"a":2}'),
    (
        "latin.txt",
        "Größe über alles, schön".encode("cp1252"),
        "Größe über alles, schön",
    ),
    ("wide.txt", "Größe".encode("utf-16"), "Größe"),
    ("mark.md", "\ufeffÉtoile".encode(), "Étoile"),
    (
        "page.html",
        b"<title>T</title><style>p{}</style><p>Be <b>brief</b> &amp; kind.</p>"
        b"<script>alert('x')</script><ul><li>One<li>Two</ul>",
        "T\n\nBe brief & kind.\n\n- One\n- Two",
    ),
    (
        "rules.xml",
        b'<?xml version="1.0"?><rules><rule id="1">Be &lt;brief&gt;.</rule></rules>',
        'rules:\n  rule id="1": Be <brief>.',
    ),
    (
        "letter.docx",
        docx(paragraph("Be ", "brief.") + paragraph("Be kind.")),
        "Be brief.\nBe kind.",
    ),
    ("rules.pdf", pdf("Be brief.", "Be kind."), "Be brief.\n\nBe kind."),
    ("open.pdf", pdf("Be brief.", password=""), "Be brief."),
    ("named-wrong.txt", pdf("Be brief."), "Be brief."),
]


@pytest.mark.parametrize(
    ("name", "data", "text"), READ, ids=[name for name, *_ in READ]
)
def test_text_is_read(name, data, text, project):
    files, problems = read_files([Upload(name, data)], project=project)
    assert problems == []
    assert [file.content for file in files] == [text]
    assert files[0].length == len(text)


def test_an_image_is_a_reference(project):
    files, problems = read_files([Upload("menu.png", factories.png())], project=project)
    assert problems == []
    assert files[0].is_image
    assert files[0].content["mime"] == "image/png"
    assert not files[0].source().is_text


BOMB = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;&b;&b;&b;</x>'
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
REFUSED = [
    ("empty.txt", b"", "empty.txt is empty."),
    ("blank.md", b" \n\t\n", "blank.md is empty."),
    ("blank.html", b"<p> </p><script>x</script>", "blank.html is empty."),
    ("blank.docx", docx(""), "blank.docx is empty."),
    ("program.exe", b"MZ\x90\x00", "program.exe cannot be read."),
    (
        "noise.txt",
        bytes(range(1, 32)) * 40,
        "noise.txt holds something else than text.",
    ),
    (
        "broken.xml",
        b"<a><b></a>",
        "broken.xml is not valid XML, see line and column 1:",
    ),
    ("bomb.xml", BOMB, "bomb.xml declares entities of its own."),
    ("outside.xml", OUTSIDE, "outside.xml declares entities of its own."),
    (
        "bomb.docx",
        docx("", head="<!DOCTYPE x [<!ENTITY a 'b'>]>"),
        "bomb.docx declares",
    ),
    ("not.docx", b"PK\x03\x04 broken", "not.docx is no Word document"),
    ("other.docx", docx("", name="xl/workbook.xml"), "other.docx is no Word document"),
    (
        "old.docx",
        b"\xd0\xcf\x11\xe0" + b"\0" * 600,
        "old.docx is in the old Word format",
    ),
    ("broken.pdf", b"%PDF-1.7\nnothing", "broken.pdf is no PDF, or a broken one."),
    ("cut.pdf", pdf("Be brief.")[:400], "cut.pdf is no PDF, or a broken one."),
    ("locked.pdf", pdf("Be brief.", password="x"), "locked.pdf is protected by a"),
    ("scan.pdf", pdf(""), "scan.pdf has no text, only pictures of pages."),
    ("broken.png", b"\x89PNG\r\n\x1a\n" + b"x" * 80, "broken.png is no image that can"),
]


@pytest.mark.parametrize(
    ("name", "data", "sentence"), REFUSED, ids=[name for name, *_ in REFUSED]
)
def test_what_cannot_be_read_is_named_and_the_others_are_kept(
    name, data, sentence, project
):
    good = Upload("good.txt", b"Be brief.")
    files, problems = read_files([Upload(name, data), good], project=project)
    assert [file.name for file in files] == ["good.txt"]
    assert [str(p) for p in problems][0].startswith(sentence)
    assert len(problems) == 1


def test_size_and_number_are_limited(project, monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", 20)
    big = [Upload("sent.txt", b"x" * 21), Upload("stopped.txt", size=3_000_000)]
    _files, problems = read_files(big, project=project)
    assert [str(p) for p in problems] == [
        "sent.txt has 21 bytes. A file may have 20 bytes.",
        "stopped.txt has 2.9 MB. A file may have 20 bytes.",
    ]
    many = [Upload(f"{n}.txt", f"text {n}".encode()) for n in range(12)]
    files, problems = read_files(many, project=project)
    assert len(files) == 10
    assert "11.txt was left out: at most 10 files are read." in map(str, problems)


def test_equal_files_count_once(project):
    twice = [Upload("a.txt", b"Be brief."), Upload("b.txt", b"Be brief.")]
    files, problems = read_files(twice, project=project)
    assert (len(files), problems) == (1, [])


def test_a_file_that_takes_too_long_is_given_up(project, monkeypatch):
    monkeypatch.setattr(sources, "SECONDS_EACH", 0.01)
    files, problems = read_files([Upload("a.pdf", pdf("x"))], project=project)
    assert files == []
    assert str(problems[0]).startswith("a.pdf takes too long to read.")


def test_an_unpacked_document_is_limited(monkeypatch):
    monkeypatch.setattr(extract, "MOST_UNPACKED", 1000)
    with pytest.raises(UnreadableError) as caught:
        extract.extract("docx", docx(paragraph("x" * 2000)))
    assert caught.value.code == "too_much"


def test_a_long_text_is_cut_and_says_so(project):
    long = Upload("long.txt", b"word " * 20_000)
    (file,), _problems = read_files([long], project=project)
    assert file.is_cut
    assert len(file.source().content) == MAX_SOURCE


def test_a_form_holds_on_to_files(project, stranger):
    (file,), _problems = read_files([Upload("a.txt", b"Be brief.")], project=project)
    kept = file_of(file.token)
    assert (kept.name, kept.length, kept.content) == ("a.txt", 9, None)
    assert kept.outline().length == 9
    again = Upload(kept.name, sha256=kept.sha256)
    (found,), _problems = read_files([again], project=project)
    assert found.content == "Be brief."
    other = stranger.projects.get()
    files, problems = read_files([again], project=other)
    assert files == []
    assert str(problems[0]) == "a.txt is not on the server any more. Choose it again."


@pytest.mark.parametrize(
    "token", ["", "x", "../../etc:1:1:x", f"{'0' * 64}:a:b:x", ":::"]
)
def test_other_tokens_mean_nothing(token):
    assert file_of(token) is None


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("C:\\docs\\rules.md", "rules.md"),
        ("../../rules.md", "rules.md"),
        ("", "file"),
        ("x" * 300 + ".md", "x" * 97 + ".md"),
    ],
)
def test_names_are_plain(name, clean):
    assert clean_name(name) == clean


def test_the_pdf_of_these_tests_is_one():
    assert len(PdfReader(io.BytesIO(pdf("a", "b"))).pages) == 2
