"""A golden set is verified character by character; every problem is told with file:line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.corpus.golden import dump_golden, golden_sha256, load_golden
from bench.corpus.locate import find_all, nearest
from bench.errors import GoldenError
from bench.types import Document, Evidence, GoldenQuestion, Span

GUIDE = "Fee is 5. Term is 9. Fee is 5. End.\r\n\tThe “refund” window\n  is 30 days — no more. 👩‍👩‍👧 完了"
PLAN = "Plan A costs 10 euro a month.  Plan B costs 20 euro a month."
DOCUMENTS = (Document("guide.md", GUIDE, "md"), Document("plan.txt", PLAN))


def write(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "golden.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    return path


def row(*evidence: Any, **fields: Any) -> dict[str, Any]:
    return {"question": "What is it?", "evidence": list(evidence), **fields}


def at(start: int, end: int, quote: str | None = None, doc_id: str = "guide.md") -> dict[str, Any]:
    return {"doc_id": doc_id, "start": start, "end": end} | ({"quote": quote} if quote is not None else {})


def say(quote: str, doc_id: str = "guide.md", **fields: Any) -> dict[str, Any]:
    return {"doc_id": doc_id, "quote": quote, **fields}


def test_every_way_to_give_evidence(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        row(at(21, 30)),
        row(at(21, 30, "Fee is 5."), question="b"),
        row(say("Term is 9."), question="c"),
        row(say("Fee is 5.", alternatives="all"), question="d"),
        row({"alternatives": [at(0, 9), say("Plan A costs 10", "plan.txt"), at(0, 9)]}, question="e"),
        row(say("👩‍👩‍👧 完了"), at(0, 3), question="f"),
    )
    found = [question.evidence for question in load_golden(path, DOCUMENTS)]
    places = ((21, 30), (10, 20), (len(GUIDE) - 8, len(GUIDE)))
    guide = [Evidence((Span("guide.md", start, end),)) for start, end in places]
    assert found[:3] == [(guide[0],), (guide[0],), (guide[1],)]
    assert found[3] == (Evidence((Span("guide.md", 0, 9), Span("guide.md", 21, 30))),)
    assert found[4] == (Evidence((Span("guide.md", 0, 9), Span("plan.txt", 0, 15))),)
    assert found[5] == (guide[2], Evidence((Span("guide.md", 0, 3),)))


def test_every_field_and_its_default(tmp_path: Path) -> None:
    full = row(say("Term is 9."), question_id="q1", answer="9", answers=["9", "nine"], category="fact", answerable=True,
               required_sources=["guide.md"], scope=["guide.md"], document="guide.md", difficulty="hard",
               meta={"author": "me"})  # fmt: skip
    path = write(tmp_path, full, "", {"question": "Unknown?", "answerable": False, "answer": None}, "  ")
    first, second = load_golden(path, DOCUMENTS)
    assert first == GoldenQuestion(
        "q1",
        "What is it?",
        "9",
        (Evidence((Span("guide.md", 10, 20),)),),
        "fact",
        True,
        ("guide.md",),
        ("guide.md",),
        {"author": "me", "answers": ["9", "nine"], "difficulty": "hard", "document": "guide.md"},
    )
    assert (second.answerable, second.answer, second.evidence, second.scope) == (False, None, (), None)
    assert second.category == "uncategorised"
    assert second.question_id.startswith("q-")


def test_an_answer_is_the_first_of_the_answers(tmp_path: Path) -> None:
    (question,) = load_golden(write(tmp_path, row(at(0, 9), answers=["5", "five"])), DOCUMENTS)
    assert question.answer == "5"


def test_the_id_of_a_question_without_one_depends_on_its_words_only(tmp_path: Path) -> None:
    one, two = row(at(0, 9), question="One?"), row(at(0, 9), question="Two?")
    first = {q.text: q.question_id for q in load_golden(write(tmp_path, one, two), DOCUMENTS)}
    assert first == {q.text: q.question_id for q in load_golden(write(tmp_path, two, one), DOCUMENTS)}


def test_line_separators_inside_strings_do_not_end_a_line(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeff{"question": "a\u2028b\x85c", "answerable": false}\r', row(at(0, 9)))
    assert [question.text for question in load_golden(path, DOCUMENTS)] == ["a\u2028b\x85c", "What is it?"]


BAD_ROWS: dict[str, tuple[Any, str]] = {
    "bad JSON": ('{"question": "a" "answer"}', r"column 18: bad JSON \(Expecting ',' delimiter\); write one"),
    "not an object": ("[1, 2]", "not a JSON object but list"),
    "too deep": ("[" * 100_000, r"bad JSON \(.+\)"),
    "key twice": ('{"question": "a", "question": "b"}', "key 'question' is given twice"),
    "no number": ('{"question": "a", "answerable": false, "meta": {"x": NaN}}',
                  r"bad JSON \(Out of range float values"),
    "half a surrogate": ('{"question": "\\ud800", "answerable": false}', "half of a surrogate pair"),
    "unknown key": (row(at(0, 9), categry="x"), r"unknown key 'categry'; allowed: .*did you mean 'category'\?"),
    "no question": ({"evidence": [at(0, 9)]}, '"question" is missing'),
    "blank question": (row(at(0, 9), question=" "), '"question" must be a string that is not empty; received \' \''),
    "wrong type": (row(at(0, 9), answerable="yes"), "\"answerable\" must be true or false; received 'yes'"),
    "id with blank": (row(at(0, 9), question_id="a b"), '"question_id" must be a string without white space'),
    "answers": (row(at(0, 9), answers="x"), '"answers" must be a list of strings'),
    "evidence no list": ({"question": "a", "evidence": {}}, '"evidence" must be a list of objects'),
    "evidence no object": (row("Term is 9."), r"evidence 1: 'Term is 9\.' is not an object; allowed: .*doc_id"),
    "evidence key": (row({"doc": "guide.md"}), r"unknown key 'doc'; allowed: .*did you mean 'doc_id'\?"),
    "unknown document": (row(at(0, 9), at(0, 9, doc_id="gide.md")),
                         r"evidence 2: unknown document 'gide\.md'; .*did you mean 'guide\.md'\?"),
    "no document": (row({"quote": "Term"}), '"doc_id" must be a string'),
    "outside": (row(at(60, 1000)),
                rf"60:1000 of guide\.md is outside the text; allowed: 0 <= start < end <= {len(GUIDE)}"),
    "negative": (row(at(-5, 5)), r"-5:5 of guide\.md is outside the text"),
    "backwards": (row(at(9, 5)), r"9:5 of guide\.md is outside the text; allowed: 0 <= start < end"),
    "empty span": (row(at(5, 5)), r"5:5 of guide\.md is empty"),
    "white space": (row(at(29, 31, doc_id="plan.txt")), r"29:31 of plan\.txt is white space only \('  '\)"),
    "start alone": (row({"doc_id": "guide.md", "start": 3}), 'must both be whole numbers; received 3, None'),
    "start as text": (row(at("0", 9)), "must both be whole numbers; received '0', 9"),  # type: ignore[arg-type]
    "start as truth": (row(at(True, 9)), "must both be whole numbers; received True, 9"),
    "neither": (row({"doc_id": "guide.md"}), 'evidence needs "start" and "end", or a "quote"'),
    "blank quote": (row(say(" ")), 'a "quote" that is not white space'),
    "quote elsewhere": (row(at(0, 10, "Term is 9.")),
                        r"0:10 of guide\.md is 'Fee is 5\. ', not the quote 'Term is 9\.'; the quote stands at 10:20;"),
    "quote nowhere": (row(at(0, 9, "Term is 8.")),
                      r"not the quote 'Term is 8\.'; .*nearest text at 10:20 \(similarity 0\.90\): 'Term is 9\.'"),
    "ambiguous": (row(say("Fee is 5.")),
                  r"'Fee is 5\.' stands 2 times in guide\.md, at 0:9, 21:30; give .*alternatives"),
    "overlapping places": (row(say("an", "plan.txt")), r"'an' stands 2 times"),
    "missing": (row(say('the "refund" window is 30 days')),
                r"not in guide\.md; nearest text at 38:70 \(similarity 1\.00\): 'The “refund” window\\n  is 30 days'"),
    "alternatives word": (row(say("Fee is 5.", alternatives="every")), "\"alternatives\" is 'every'; allowed: \"all\""),
    "alternatives empty": (row({"alternatives": []}), "stands alone and holds at least one place"),
    "alternatives beside": (row({"alternatives": [at(0, 9)], "doc_id": "guide.md"}), "stands alone"),
    "all with offsets": (row(at(0, 9) | {"alternatives": "all"}), '"alternatives": "all" goes with a quote alone'),
    "an alternative": (row({"alternatives": [at(0, 9), say("Fee")]}), "evidence 1: quote 'Fee' stands 2 times"),
    "unanswerable with evidence": (row(at(0, 9), answerable=False), "unanswerable, but evidence is given"),
    "answerable without": (row(answerable=True), 'no evidence; give "evidence", or state "answerable": false'),
    "nothing stated": ({"question": "a"}, 'no evidence; give "evidence", or state "answerable": false'),
    "sources": (row(at(0, 9), required_sources=["guide.md", "plan.txt"]),
                r"'plan\.txt' holds no evidence of this question; allowed: guide\.md"),
    "unknown source": (row(at(0, 9), required_sources=["plan.md"]),
                       r"\"required_sources\": unknown document 'plan\.md'"),
    "unknown scope": (row(at(0, 9), scope=["x"]), "\"scope\": unknown document 'x'; allowed: guide.md, plan.txt"),
    "empty scope": (row(at(0, 9), scope=[]), '"scope" must be a list of document ids, not empty'),
    "out of scope": (row(at(0, 9), scope=["plan.txt"]), r"evidence 1 is in guide\.md, outside \"scope\" \(plan\.txt\)"),
    "unknown named": (row(at(0, 9), document="gui.md"), "\"document\": unknown document 'gui.md'"),
    "id twice": (row(at(0, 9), question="Fine?"), "question_id 'q-[0-9a-f]+' is that of line 1"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_bad_rows_are_one_line_with_file_and_line(tmp_path: Path, kind: str) -> None:
    bad, message = BAD_ROWS[kind]
    path = write(tmp_path, row(at(0, 9), question="Fine?"), "", bad)
    with pytest.raises(GoldenError, match=message) as caught:
        load_golden(path, DOCUMENTS)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert "\n" not in str(caught.value)


def test_all_problems_are_told_at_once_and_at_most_twenty_shown(tmp_path: Path) -> None:
    good = row(at(0, 9), question="Fine?")
    path = write(tmp_path, row(at(5, 5), say("Fee")), good, "{", row(at(5, 5), question="b"))
    with pytest.raises(GoldenError) as caught:
        load_golden(path, DOCUMENTS)
    lines = str(caught.value).split("\n")
    assert lines[0] == f"{path}: 4 problems"
    assert [line.split(": ")[0] for line in lines[1:]] == [f"{path}:{n}" for n in (1, 1, 3, 4)]
    path = write(tmp_path, *(row(say("nowhere"), question=str(n)) for n in range(25)))
    with pytest.raises(GoldenError) as caught:
        load_golden(path, DOCUMENTS)
    lines = str(caught.value).split("\n")
    assert (lines[0], len(lines), lines[-1]) == (f"{path}: 25 problems", 22, "and 5 more")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, r"cannot be read \(.+\); give a JSON Lines file"), (b"\n \n", "no questions; write one JSON object a line"),
     (b'{"question": "caf\xe9"}', "byte 17 is not UTF-8")],
)  # fmt: skip
def test_bad_files(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "golden.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(GoldenError, match=message) as caught:
        load_golden(path, DOCUMENTS)
    assert str(path) in str(caught.value)


def test_of_many_documents_the_near_ones_are_named(tmp_path: Path) -> None:
    documents = [Document(f"chapter-{n:03}.md", "text") for n in range(500)]
    with pytest.raises(GoldenError, match=r"one of 500 documents; most like it: 'chapter-123\.md'") as caught:
        load_golden(write(tmp_path, row(at(0, 4, doc_id="chaptr-123.md"))), documents)
    assert len(str(caught.value)) < 400


ODD = "ab \t\n\r\f\u00a0é“”—👩\u200d完\u2028İ"
hostile = st.text(st.sampled_from(ODD) | st.characters(blacklist_categories=("Cs",)))


@given(text=hostile, data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_written_questions_come_back_equal(tmp_path: Path, text: str, data: st.DataObject) -> None:
    documents = [Document("a.txt", "x" + text), Document("b/c.txt", text + "y")]
    spans = []
    for document in documents:
        size = len(document.text)
        bounds = st.tuples(st.integers(0, size), st.integers(0, size)).map(sorted)
        pairs = data.draw(st.lists(bounds, min_size=1, max_size=3))
        spans += [Span(document.doc_id, start, end) for start, end in pairs if document.text[start:end].strip()]
    questions = [
        GoldenQuestion(f"q{n}", f"{text}?", text, (Evidence((span,)), Evidence(tuple(dict.fromkeys(spans)))), "kind",
                       required_sources=(span.doc_id,), meta={"answers": [text or "-"], "free": {"a": [text]}})
        for n, span in enumerate(spans)
    ] + [GoldenQuestion("none", "why?", answerable=False, scope=("a.txt",), meta={"document": "b/c.txt"})]  # fmt: skip
    path = tmp_path / "out.jsonl"
    dump_golden(questions, documents, path)
    loaded = load_golden(path, documents)
    assert list(loaded) == questions
    assert golden_sha256(loaded) == golden_sha256(reversed(questions))
    for line in path.read_bytes().decode().split("\n")[:-1]:
        for item in json.loads(line).get("evidence", []):
            for place in item.get("alternatives", [item]):
                text_of = next(document.text for document in documents if document.doc_id == place["doc_id"])
                assert text_of[place["start"] : place["end"]] == place["quote"]


def test_the_hash_sees_every_field() -> None:
    base = GoldenQuestion("q", "text", "a", (Evidence((Span("guide.md", 0, 9),)),))
    others = [
        GoldenQuestion("q", "text", "b", base.evidence),
        GoldenQuestion("q", "text!", "a", base.evidence),
        GoldenQuestion("q", "text", "a", (Evidence((Span("guide.md", 0, 8),)),)),
        GoldenQuestion("q", "text", "a", base.evidence, scope=("guide.md",)),
        GoldenQuestion("q", "text", "a", base.evidence, meta={"difficulty": 1}),
    ]
    assert len({golden_sha256([question]) for question in [base, *others]}) == 6


def test_a_set_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    question = GoldenQuestion("q", "text", answerable=False)
    path = tmp_path / "golden.jsonl"
    dump_golden([question], DOCUMENTS, path)
    (tmp_path / "golden.jsonl.part").mkdir()
    with pytest.raises(GoldenError, match=r"golden\.jsonl: cannot be written \(.+\); choose another place"):
        dump_golden([question, question], DOCUMENTS, path)
    assert len(load_golden(path, DOCUMENTS)) == 1


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (GoldenQuestion("q", "text", evidence=(Evidence((Span("gone.md", 0, 9),)),)), r"unknown document 'gone\.md'"),
        (GoldenQuestion("q", "text", evidence=(Evidence((Span("guide.md", 0, 9000),)),)), "is outside the text"),
        (GoldenQuestion("q", "text"), 'state "answerable": false'),
        (GoldenQuestion("two words", "text", answerable=False), "a string without white space"),
        (GoldenQuestion("q", "\ud800", answerable=False), "half a surrogate pair"),
    ],
)
def test_what_would_not_load_is_not_written(tmp_path: Path, question: GoldenQuestion, message: str) -> None:
    with pytest.raises(GoldenError, match=message):
        dump_golden([GoldenQuestion("fine", "text", answerable=False), question], DOCUMENTS, tmp_path / "golden.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_find_all_counts_overlapping_places() -> None:
    assert find_all("banana", "ana") == [1, 3]
    assert find_all("aaa", "") == []


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("the 'REFUND' window is 30 days - no more.", "The “refund” window\n  is 30 days — no more."),
        ("Term\u200b is\u00a0\n9.", "Term is 9."),
        ("Term iss 9.", "Term is 9."),
        ("  👩‍👩‍👧   完了 ", "👩‍👩‍👧 完了"),
    ],
)
def test_nearest_text(quote: str, place: str) -> None:
    found = nearest(GUIDE, quote)
    assert [GUIDE[best.start : best.end] for best in found] == [place]
    assert found[0].similarity > 0.9


def test_nearest_text_that_repeats_is_found_everywhere() -> None:
    assert [(place.start, place.end) for place in nearest(GUIDE, "fee  is 5.")] == [(0, 9), (21, 30)]
    assert [(place.start, place.end) for place in nearest(GUIDE, "Fee iss 5.")] == [(0, 9), (21, 30)]


def test_nearest_text_of_a_long_quote_and_of_none() -> None:
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnop", k=draw.randint(2, 9))) for _ in range(5000)]
    text = " ".join(words)
    changed = [word if n % 10 else word[:-1].upper() for n, word in enumerate(words[1000:1300])]
    (place,) = nearest(text, " ".join(changed))
    assert text[place.start : place.end] == " ".join(words[1000:1300])
    assert 0.9 < place.similarity < 1
    assert nearest(text, "完了しました") == []


@given(text=hostile, quote=hostile)
@settings(max_examples=200, deadline=None)
def test_nearest_never_leaves_the_text(text: str, quote: str) -> None:
    for place in nearest(text, quote):
        assert 0 <= place.start < place.end <= len(text)
        assert 0 <= place.similarity <= 1


@given(text=hostile, data=st.data())
@settings(max_examples=200, deadline=None)
def test_nearest_of_text_that_is_there_is_there(text: str, data: st.DataObject) -> None:
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    quote = text[start:end]
    for place in nearest(text, quote):
        assert place.similarity == 1
