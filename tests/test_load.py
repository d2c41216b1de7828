"""Documents keep every character; whatever cannot be loaded is told in one line."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.corpus.load import corpus_sha256, load_documents
from bench.errors import CorpusError
from bench.types import Document

HOSTILE = {
    "crlf.txt": "one\r\ntwo\rthree\n\r\n",
    "tabs.md": "# T\tab\n\tcode\u00a0here\f\x0bnext\n",
    "bom.txt": "\ufeffafter the mark",
    "emoji.md": "👩‍👩‍👧 🏳️‍🌈 e\u0301 é",
    "cjk.txt": "返金は三十日以内。送料は　別。",
    "separators.txt": "a\u2028b\u2029c\x85d\x1ce",
    "edges.txt": "  \n leading and trailing \n\n ",
}


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def pdf(*pages: str | None) -> bytes:
    """A minimal PDF of one line of text a page; None is a page that shows an image and no text."""
    body: list[bytes] = []
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    body.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    body.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    body.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    image = 4 + 2 * len(pages)
    for n, text in enumerate(pages):
        resources = "/Font << /F 3 0 R >>" if text is not None else f"/XObject << /I {image} 0 R >>"
        drawing = f"BT /F 12 Tf 72 700 Td ({text}) Tj ET" if text is not None else "/I Do"
        body.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R "
            f"/Resources << {resources} >> >>".encode()
        )
        body.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream".encode())
    body.append(
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray "
        b"/Length 1 >>\nstream\n\x00\nendstream"
    )
    data, offsets = b"%PDF-1.4\n", []
    for number, item in enumerate(body, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n".encode() + item + b"\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = b"<< /Size %d /Root 1 0 R >>" % (len(body) + 1)
    return data + (
        f"xref\n0 {len(body) + 1}\n0000000000 65535 f \n{table}".encode()
        + b"trailer\n"
        + trailer
        + f"\nstartxref\n{len(data)}\n%%EOF\n".encode()
    )


def test_every_character_is_kept(tmp_path: Path) -> None:
    loaded = {document.doc_id: document.text for document in load_documents(write(tmp_path, dict(HOSTILE)))}
    assert loaded == HOSTILE


@given(text=st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_text_equals_its_bytes_decoded(tmp_path: Path, text: str) -> None:
    body = "x" + text  # the first character is no byte order mark of UTF-16
    (tmp_path / "a.txt").write_bytes(body.encode())
    (document,) = load_documents(tmp_path)
    assert document.text == body
    assert document.sha256() == Document("a.txt", body).sha256()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_by_its_mark_keeps_the_mark(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, {"a.txt": "\ufeffzażółć 😀\r\n".encode(encoding)})
    assert load_documents(tmp_path)[0].text == "\ufeffzażółć 😀\r\n"


def test_ids_formats_languages_and_order(tmp_path: Path) -> None:
    names = ["b/x.md", "b.html", "a.PY", "Z.txt", "c.yaml", "notes", "d.weird", "b/y.rb"]
    loaded = load_documents(write(tmp_path, dict.fromkeys(names, "text")))
    assert [document.doc_id for document in loaded] == sorted(names)
    formats = {document.doc_id: (document.format, document.meta.get("language")) for document in loaded}
    assert formats == {
        "Z.txt": ("txt", None),
        "a.PY": ("code", "python"),
        "b.html": ("html", None),
        "b/x.md": ("md", None),
        "b/y.rb": ("code", "ruby"),
        "c.yaml": ("code", "yaml"),
        "d.weird": ("txt", None),
        "notes": ("txt", None),
    }


def test_hidden_files_are_skipped_and_include_narrows(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x", "in/b.md": "x", "in/deep/c.md": "x", "in/d.txt": "x", ".git/e.md": "x", ".f": "x"})

    def ids(*include: str) -> list[str]:
        return [document.doc_id for document in load_documents(tmp_path, include=include)]

    assert ids("**/*") == ["a.md", "in/b.md", "in/d.txt", "in/deep/c.md"]
    assert ids("**/*.md") == ["a.md", "in/b.md", "in/deep/c.md"]
    assert ids("*.md") == ["a.md"]
    assert ids("in/*.md", "in/*.txt") == ["in/b.md", "in/d.txt"]
    assert ids("in/**") == ["in/b.md", "in/d.txt", "in/deep/c.md"]


def test_an_id_is_nfc_wherever_the_file_name_comes_from(tmp_path: Path) -> None:
    write(tmp_path, {unicodedata.normalize("NFD", "café.txt"): "x"})
    assert load_documents(tmp_path)[0].doc_id == unicodedata.normalize("NFC", "café.txt")


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "```sh\n# no title\n```\n\n# The *real* one #\n", "The *real* one"),
        ("a.md", "\ufeff# First\r\n\r\n# Second\r\n", "First"),
        ("a.md", "Underlined\n=====\n\ntext", "Underlined"),
        ("a.md", "---\r\n# a comment\r\ntitle: 'In front'\r\n---\r\n# Heading\r\n", "In front"),
        ("a.md", "---\n# a comment\ntags: x\n---\n# Heading\n", "Heading"),
        ("a.md", "## Only a section\n", None),
        ("a.html", "<html><head><title>Fees &amp;\n terms</title></head><h1>Other</h1>", "Fees & terms"),
        ("a.html", "<h1 class='x'>Only <em>this</em></h1>", "Only this"),
        ("a.txt", "\n\n  Plain first line \r\nmore", "Plain first line"),
        ("a.txt", "x" * 500, None),
        ("a.py", "# comment\n", None),
    ],
)
def test_titles(tmp_path: Path, name: str, text: str, title: str | None) -> None:
    assert load_documents(write(tmp_path, {name: text}))[0].meta.get("title") == title


def test_given_meta_is_added_and_wins(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A", "b.md": "# B"})
    first, second = load_documents(tmp_path, meta={"a.md": {"revision": 2, "title": "Given"}})
    assert dict(first.meta) == {"title": "Given", "revision": 2}
    assert dict(second.meta) == {"title": "B"}


def test_html_as_source_and_as_markdown(tmp_path: Path) -> None:
    source = ("<html><head><title>T</title><style>p{}</style></head><body><h2>Fees</h2><p>snake_case * 2</p><table>"
              "<tr><th>Plan</th><th>Fee</th></tr><tr><td>A</td><td>5</td></tr></table></body></html>")  # fmt: skip
    write(tmp_path, {"a.html": source})
    (raw,) = load_documents(tmp_path)
    assert (raw.text, raw.format) == (source, "html")
    (converted,) = load_documents(tmp_path, html="markdown")
    assert converted.format == "md"
    assert converted.meta["title"] == "T"
    assert converted.meta["converted"].startswith("markdownify ")
    assert "## Fees" in converted.text
    assert "| A | 5 |" in converted.text
    assert "snake_case * 2" in converted.text
    assert "p{}" not in converted.text
    assert corpus_sha256([raw]) != corpus_sha256([converted])


def test_pdf_pages_and_their_starts(tmp_path: Path) -> None:
    write(tmp_path, {"a.pdf": pdf("First page", "Second page", "")})
    (document,) = load_documents(tmp_path)
    assert document.format == "pdf"
    assert document.text.split("\f") == ["First page", "Second page", ""]
    starts = document.meta["pages"]
    assert [document.text[start:].split("\f")[0] for start in starts] == ["First page", "Second page", ""]
    assert document.meta["converted"].startswith("pypdf ")
    assert document.meta["title"] == "First page"


def encrypted() -> bytes:
    import io

    from pypdf import PdfReader, PdfWriter

    writer, out = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("secret")))), io.BytesIO()
    writer.encrypt("a password", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


BAD_FILES = {
    "latin1": ({"a.txt": "caf\xe9 au lait".encode("latin-1")}, r"a\.txt: byte 3 \(0xe9\) is not UTF-8; allowed: .*out"),
    "binary": ({"a.png": b"\x89PNG\r\n\x1a\n\0\0"}, r"a\.png: a binary file \(NUL at byte 8\)"),
    "nul in text": ({"a.txt": "x\0y"}, r"a\.txt: a binary file \(NUL at byte 1\)"),
    "utf-16 without mark": ({"a.txt": "hello".encode("utf-16-le")}, r"a\.txt: a binary file .*byte order mark"),
    "utf-16 cut short": ({"a.txt": "\ufeffhello".encode("utf-16-le")[:-1]}, r"a\.txt: byte 10 .* is not UTF-16-LE"),
    "empty": ({"a.txt": "", "b.txt": "fine"}, r"a\.txt: an empty document"),
    "white space": ({"a.md": "\ufeff \n\t\u00a0"}, r"a\.md: an empty document"),
    "no file": ({".hidden": "x"}, r"no file to load \(include: \*\*/\*\); hidden files are skipped"),
    "case collision": ({"Doc.md": "x", "doc.md": "y"}, r"Doc\.md' and '.*doc\.md' have one id on some systems"),
    "broken pdf": ({"a.pdf": b"%PDF-1.4\nnothing here"}, r"a\.pdf: cannot be read as PDF \(.+\); save it anew"),
    "no pdf at all": ({"a.pdf": "just text"}, r"a\.pdf: cannot be read as PDF"),
    "blank pdf": ({"a.pdf": pdf("", "")}, r"a\.pdf: all 2 pages are without text \(scanned\?\)"),
    "scanned page": ({"a.pdf": pdf("text", None)}, r"a\.pdf: page 2 is without text \(scanned\?\); recognise the text"),
    "encrypted pdf": ({"a.pdf": encrypted()}, r"a\.pdf: the PDF is encrypted with a password"),
    "control character": ({"a\nb.md": "x"}, r"'.*a\\nb\.md': the file name is not UTF-8 or holds control"),
    "several": ({"a.txt": b"\xff", "b.txt": b"\xff", "c.txt": ""}, r"a\.txt: .* \(2 more files cannot be loaded\)"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files_are_one_line(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    files, message = BAD_FILES[kind]
    with pytest.raises(CorpusError, match=message) as caught:
        load_documents(write(tmp_path, dict(files)))
    assert "\n" not in str(caught.value)
    assert caplog.records == []
    assert str(tmp_path) in str(caught.value)


def test_names_that_differ_in_normal_form_only_collide(tmp_path: Path) -> None:
    write(tmp_path, {unicodedata.normalize(form, "café.txt"): form for form in ("NFC", "NFD")})
    if len(os.listdir(tmp_path)) < 2:
        pytest.skip("this file system keeps one of the two names")
    with pytest.raises(CorpusError, match="have one id"):
        load_documents(tmp_path)


def test_a_file_reached_by_two_names_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"doc.md": "x"})
    (tmp_path / "again.md").symlink_to(tmp_path / "doc.md")
    with pytest.raises(CorpusError, match=r"again\.md' and '.*doc\.md' are one file: two documents would claim"):
        load_documents(tmp_path)


def test_links_to_folders_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/b.md": "b", "docs/a.md": "a"})
    (tmp_path / "docs" / "linked").symlink_to(tmp_path / "elsewhere")
    assert [document.doc_id for document in load_documents(tmp_path / "docs")] == ["a.md", "linked/b.md"]
    (tmp_path / "docs" / "loop").symlink_to(tmp_path / "docs")
    with pytest.raises(CorpusError, match="loop: a link to a folder that holds it"):
        load_documents(tmp_path / "docs")


def test_broken_link_and_device_are_told(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match=r"gone\.md: not a file"):
        load_documents(tmp_path)
    (tmp_path / "gone.md").unlink()
    (tmp_path / "round.md").symlink_to(tmp_path / "round.md")
    with pytest.raises(CorpusError, match=r"round\.md: "):
        load_documents(tmp_path)
    (tmp_path / "round.md").unlink()
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(CorpusError, match=r"pipe\.md: not a file"):
        load_documents(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that no one can read from its start")
def test_unreadable_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to("/proc/self/mem")
    with pytest.raises(CorpusError, match=r"a\.md: cannot be read \(.+\); mend the file or its permissions"):
        load_documents(tmp_path)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("none", {}, "none: no such folder; give a folder of documents"),
        ("a.md", {}, r"a\.md: not a folder"),
        (".", {"include": ["*.rst"]}, r"no file to load \(include: \*\.rst\)"),
        (".", {"meta": {"b.md": {}}}, r"'b\.md' is listed .* but not there; allowed: a\.md; did you mean 'a\.md'\?"),
        (".", {"html": "markdwon"}, r"html: 'markdwon' .*did you mean 'markdown'\?"),
    ],
)
def test_bad_arguments(tmp_path: Path, name: str, options: dict[str, object], message: str) -> None:
    write(tmp_path, {"a.md": "x"})
    with pytest.raises(CorpusError, match=message):
        load_documents(tmp_path / name, **options)  # type: ignore[arg-type]


def test_corpus_hash_is_of_content_not_of_order() -> None:
    first, second = Document("a", "x", "md", {"title": "T"}), Document("b", "y")
    assert corpus_sha256([first, second]) == corpus_sha256([second, first])
    others = [
        [first],
        [Document("a", "x", "txt", {"title": "T"}), second],
        [Document("a", "x", "md", {"title": "U"}), second],
        [Document("a", "y", "md", {"title": "T"}), second],
        [Document("c", "x", "md", {"title": "T"}), second],
    ]
    assert len({corpus_sha256(documents) for documents in [*others, [first, second]]}) == 6
