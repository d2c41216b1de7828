"""Code by its syntax tree: whole definitions, comments and heads kept, any script in strings."""

from __future__ import annotations

import pytest

from bench.chunkers.base import Tools
from bench.chunkers.grammars import parser_of
from bench.chunkers.run import chunk_corpus
from bench.chunkers.syntax import Syntax
from bench.errors import ModelError
from bench.tokenize import get_tokenizer
from bench.types import Document

TOOLS = Tools(get_tokenizer)
PYTHON = '''"""Ferries."""

import os

# How fast it goes,
# in knots.
SPEED = 12


@cached
def fare(distance):
    """Price of a ride: 値段 é 👩‍👧."""
    if distance > 3:
        return 2 * distance
    return 5


class Ferry:
    """A boat."""

    def load(self, bike):
        self.bikes.append(bike)

    # Leaves at once.
    def leave(self):
        return self.bikes
'''


def parts(chunker: Syntax, text: str, language: str = "python") -> list[str]:
    document = Document("d", text, "code", {"language": language})
    return [chunk.indexed_text for chunk in chunk_corpus(chunker, [document], TOOLS).chunks]


def test_definitions_stay_whole() -> None:
    found = parts(Syntax(size=160, unit="characters"), PYTHON)
    assert found[1] == PYTHON[PYTHON.index("@cached") : PYTHON.index("class Ferry")].rstrip()
    assert found[2].startswith('class Ferry:\n    """A boat."""')
    assert parts(Syntax(size=1000, unit="characters"), PYTHON) == [PYTHON.rstrip()]


def test_comments_decorators_and_heads_stay_with_what_follows() -> None:
    found = parts(Syntax(size=70, unit="characters"), PYTHON)
    assert found[0].endswith("# How fast it goes,\n# in knots.\nSPEED = 12")
    assert "    # Leaves at once.\n    def leave(self):\n        return self.bikes" in found
    assert any(part.startswith('@cached\ndef fare(distance):\n    """Price') for part in found)
    assert any(part.startswith("    def load(self, bike):\n        self") for part in found)


WHOLE = {
    "go": "// Foo is\n// kept.\nfunc Foo() int {\n\treturn 1\n}",
    "rust": "#[test]\nfn foo() {\n    bar();\n}",
    "typescript": "/** Doc. */\nfunction foo(a: number) {\n  return a;\n}",
    "java": "@Test\nclass Foo {\n  int a() { return 1; }\n}",
    "ruby": "# Doc\ndef foo\n  1\nend",
}
AFTER = {
    "go": "type T struct {\n\tA int\n}",
    "rust": "struct T {\n    a: u8,\n}",
    "typescript": "interface T { a: 1 }",
    "java": "class B {\n  int b = 2;\n}",
    "ruby": "class B\n  def b\n    2\n  end\nend",
}


@pytest.mark.parametrize("language", WHOLE)
def test_other_languages(language: str) -> None:
    pytest.importorskip(f"tree_sitter_{language}")
    text = "\n\n".join([AFTER[language], WHOLE[language], AFTER[language]])
    found = parts(Syntax(size=len(WHOLE[language]) + 2, unit="characters"), text, language)
    assert WHOLE[language] in found
    assert "".join("".join(found).split()) == "".join(text.split())


def test_strings_and_broken_code() -> None:
    broken = PYTHON.replace("class Ferry:", "class Ferry((:") + "def half(\n"
    assert "".join("".join(parts(Syntax(size=40, unit="characters"), broken)).split()) == "".join(broken.split())


def test_documents_without_a_known_language() -> None:
    text = "First line of prose.\n\nSecond one, longer than that."
    for language in ("", "json", "no such thing"):
        assert parts(Syntax(size=30, unit="characters"), text, language) == text.split("\n\n")


def test_a_grammar_that_is_missing_is_asked_for() -> None:
    if parser_of_installed("swift"):
        pytest.skip("the grammar of Swift is installed")
    with pytest.raises(ModelError, match="pip install tree-sitter tree-sitter-swift"):
        parts(Syntax(), "let a = 1", "swift")


def parser_of_installed(language: str) -> bool:
    try:
        return parser_of(language) is not None
    except ModelError:
        return False
