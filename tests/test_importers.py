from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.corpus.golden import read_golden
from bench.corpus.importers import IMPORTERS, run_import
from bench.corpus.importers.base import ImportResult
from bench.corpus.load import load_documents
from bench.errors import ConfigError, GoldenError, StoreError

Write = Callable[[str, Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write text, bytes, JSON lines (a tuple) or one JSON value to a file under tmp_path."""

    def put(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, tuple):
            content = "".join(json.dumps(row) + "\n" for row in content)
        elif not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return put


def spans(result: ImportResult) -> Iterator[dict[str, Any]]:
    for row in result.questions:
        for item in row["evidence"]:
            yield from item.get("alternatives", [item])


def check_spans(result: ImportResult) -> int:
    texts = dict(result.documents)
    count = 0
    for span in spans(result):
        assert texts[span["doc_id"]][span["start"] : span["end"]] == span["quote"] != ""
        count += 1
    return count


def places(item: dict[str, Any]) -> list[tuple[str, int, int]]:
    return [(s["doc_id"], s["start"], s["end"]) for s in item.get("alternatives", [item])]


# --- the sets that lie beside the checkout


@pytest.mark.parametrize(
    ("name", "documents", "questions", "answerable", "spans_at_least"),
    [
        ("chroma", 5, 472, 472, 790 + 97),
        ("squad2_articles", 16, 6078, 2910, 2910),
        ("multihop_wiki", 2758, 200, 200, 466),
        ("tech_docs", 45, 100, 100, 192 + 7),
        ("clapnq_dev", 597, 599, 299, 825),
    ],
)
def test_shared_sets_arrive_whole(
    shared: Path, name: str, documents: int, questions: int, answerable: int, spans_at_least: int
) -> None:
    result = IMPORTERS["shared"](shared / "data" / name)
    assert (len(result.documents), len(result.questions)) == (documents, questions)
    assert sum(row["answerable"] for row in result.questions) == answerable
    assert all(bool(row["evidence"]) == row["answerable"] for row in result.questions)
    assert check_spans(result) >= spans_at_least
    assert result.problems == []


def test_shared_sets_keep_what_their_rows_say(shared: Path) -> None:
    chroma = IMPORTERS["shared"](shared / "data" / "chroma").questions
    assert {row["meta"]["corpus"] for row in chroma} == {
        "chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts",
    }  # fmt: skip
    assert sum("alternatives" in item for row in chroma for item in row["evidence"]) == 97
    squad = IMPORTERS["shared"](shared / "data" / "squad2_articles").questions
    assert not any("alternatives" in item for row in squad for item in row["evidence"])
    assert len({row["document"] for row in squad if not row["answerable"]}) == 16
    multihop = IMPORTERS["shared"](shared / "data" / "multihop_wiki").questions
    assert [len(row.get("required_sources", [])) for row in multihop].count(0) == 2
    assert multihop[0]["answers"] == ["G. Stanley Hall", "Stanley Hall"]


# --- shared layout, own sample


def shared_row(**changes: Any) -> dict[str, Any]:
    evidence = [{"doc": "a.txt", "start": 4, "end": 7, "text": "fee"}]
    return {"id": "q1", "question": "What?", "answer": "x", "evidence": evidence, "category": "factoid", **changes}


def test_shared_alternatives_start_with_the_given_place(write: Write, tmp_path: Path) -> None:
    write("corpus/a.txt", "The fee.\r\nNo fee, a fee.")
    again = [{"doc": "a.txt", "start": 13, "end": 16, "text": "fee"}]
    placed = shared_row(id="q3", evidence=again, paragraph=[10, 24], doc="a.txt")
    write("golden.jsonl", (shared_row(), shared_row(id="q2", evidence=again), placed))
    first, second, third = IMPORTERS["shared"](tmp_path).questions
    assert places(first["evidence"][0]) == [("a.txt", 4, 7), ("a.txt", 13, 16), ("a.txt", 20, 23)]
    assert places(second["evidence"][0]) == [("a.txt", 13, 16), ("a.txt", 4, 7), ("a.txt", 20, 23)]
    assert places(third["evidence"][0]) == [("a.txt", 13, 16)]


def test_shared_unanswerable_and_multi_hop(write: Write, tmp_path: Path) -> None:
    write("corpus/a.txt", "The fee.")
    write("corpus/sub/b.txt", "The term.")
    two = [*shared_row()["evidence"], {"doc": "sub/b.txt", "start": 4, "end": 8, "text": "term"}]
    write(
        "golden.jsonl",
        (
            shared_row(evidence=two, category="multi_hop_2", answers=["x", "y"]),
            shared_row(id="q2", evidence=[], answer=None, doc="a.txt", paragraph=[0, 8]),
        ),
    )
    hop, near_miss = IMPORTERS["shared"](tmp_path).questions
    assert hop["required_sources"] == ["a.txt", "sub/b.txt"]
    assert hop["answers"] == ["x", "y"]
    assert (near_miss["answerable"], near_miss["document"], near_miss["evidence"]) == (False, "a.txt", [])


@pytest.mark.parametrize(
    ("text", "offsets", "expected", "reason"),
    [
        ("one  two", (4, 12), (4, 12), "white space differs"),
        ("gone\ttoday", (0, 3), (20, 32), "white space differs"),
        ("two\r\nthree", (0, 3), (9, 19), "offsets [0, 3] hold other text"),
        ("two", (-9, 900), (9, 12), "offsets [-9, 900] hold other text"),
    ],
)
def test_displaced_quotes_are_moved_and_reported(
    write: Write, tmp_path: Path, text: str, offsets: tuple[int, int], expected: tuple[int, int], reason: str
) -> None:
    write("corpus/a.txt", "\ufeff\U0001f600\f one\n two\r\nthree gone \n\u00a0today.")
    given = {"doc": "a.txt", "start": offsets[0], "end": offsets[1], "text": text}
    golden = write("golden.jsonl", (shared_row(evidence=[given]),))
    result = IMPORTERS["shared"](tmp_path)
    assert places(result.questions[0]["evidence"][0]) == [("a.txt", *expected)]
    assert check_spans(result) == 1
    (problem,) = result.problems
    assert problem.startswith(f"{golden}:1: moved to a.txt [{expected[0]}, {expected[1]}), {reason}: ")


def test_evidence_given_twice_counts_once_and_blank_quotes_not_at_all(write: Write, tmp_path: Path) -> None:
    write("corpus/a.txt", "The fee. The end.")
    blank = [{"doc": "a.txt", "start": 0, "end": 3, "text": text} for text in ("", " \n")]
    golden = write("golden.jsonl", (shared_row(evidence=[*shared_row()["evidence"] * 2, *blank]),))
    result = IMPORTERS["shared"](tmp_path)
    assert [places(item) for item in result.questions[0]["evidence"]] == [[("a.txt", 4, 7)], [("a.txt", 0, 3)]]
    assert result.problems == [f"{golden}:1: an empty quote; question q1 kept with the part located"]


def test_part_located_is_kept_and_nothing_located_is_kept_out(write: Write, tmp_path: Path) -> None:
    write("corpus/a.txt", "The fee.")
    absent = {"doc": "a.txt", "start": 0, "end": 3, "text": "tax"}
    lost = {"doc": "gone.txt", "start": 0, "end": 3, "text": "fee"}
    write(
        "golden.jsonl",
        (
            shared_row(evidence=[*shared_row()["evidence"], absent]),
            shared_row(id="q2", evidence=[lost]),
            shared_row(id="q3", evidence=[]),
        ),
    )
    result = IMPORTERS["shared"](tmp_path)
    assert [row["question_id"] for row in result.questions] == ["q1"]
    golden = tmp_path / "golden.jsonl"
    assert result.problems == [
        f"{golden}:1: not found in a.txt: 'tax'; question q1 kept with the part located",
        f"{golden}:2: document 'gone.txt' is missing; question q2 kept out",
        f"{golden}:3: no evidence given; question q3 kept out",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "golden.jsonl:2: not JSON"),
        ("[1]", "golden.jsonl:2: found '[1]'; expected one JSON object a line"),
        (json.dumps(shared_row()), "question id 'q1' stands twice"),
        (json.dumps(shared_row(id="q2", question=" ")), "golden.jsonl:2: the question or its id is empty"),
        (json.dumps(shared_row(id=7)), "golden.jsonl:2: 'id' is '7'; expected a string"),
        (json.dumps(shared_row(id="q2", answer=[1])), "'answer' is [1]; expected a string or null"),
        (json.dumps(shared_row(id="q2", answers=[1])), "'answers' is [1]; expected a list of strings"),
        (json.dumps(shared_row(id="q2", evidence={})), "'evidence' is '{}'; expected a list"),
        (json.dumps(shared_row(id="q2", evidence=[3])), "golden.jsonl:2 evidence[0]: found '3'; expected an object"),
        (json.dumps(shared_row(id="q2", evidence=[{"start": True}])), "'start' is 'True'; expected a whole number"),
        (json.dumps({"id": "q2", "evidence": []}), "key 'category' is missing (found: id, evidence)"),
    ],
)
def test_bad_rows_are_refused_with_their_line(write: Write, tmp_path: Path, line: str, message: str) -> None:
    write("corpus/a.txt", "The fee.")
    write("golden.jsonl", json.dumps(shared_row()) + "\n" + line + "\n")
    with pytest.raises(GoldenError) as caught:
        IMPORTERS["shared"](tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unreadable_documents_are_refused(write: Write, tmp_path: Path) -> None:
    write("golden.jsonl", (shared_row(),))
    with pytest.raises(GoldenError, match="corpus: no such folder"):
        IMPORTERS["shared"](tmp_path)
    write("corpus/a.txt", b"caf\xe9")
    with pytest.raises(GoldenError, match=r"a\.txt: byte 3 is not UTF-8"):
        IMPORTERS["shared"](tmp_path)


# --- Chroma CSV


def test_chroma_csv(write: Write, tmp_path: Path) -> None:
    write("data/corpora/letters.md", "# Letters\n\nA fee. A term. A fee.")
    source = write(
        "data/questions.csv",
        "question,references,corpus_id\n"
        'Which fee?,"[{""content"": ""A fee."", ""start_index"": 11, ""end_index"": 17}]",letters\n'
        '"Two\nlines?","[{""content"": ""A term."", ""start_index"": 18, ""end_index"": 25},'
        ' {""content"": ""# Letters"", ""start_index"": 0, ""end_index"": 9}]",letters\n',
    )
    result = IMPORTERS["chroma"](source)
    one, two = result.questions
    assert [doc_id for doc_id, _ in result.documents] == ["letters.md"]
    assert places(one["evidence"][0]) == [("letters.md", 11, 17), ("letters.md", 26, 32)]
    assert [places(item) for item in two["evidence"]] == [[("letters.md", 18, 25)], [("letters.md", 0, 9)]]
    assert (one["question_id"], one["category"], two["category"]) == ("chroma-0000", "single_span", "multi_span")
    assert (one["answer"], one["meta"]) == (None, {"corpus": "letters"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,references\nq,[]\n", "q.csv:1: column 'corpus_id' is missing"),
        ('question,references,corpus_id\n"a\nb",[],none\n', "q.csv:2: no text of corpus 'none'"),
        ('question,references,corpus_id\n"a\nb",[],c\n\nq,nope,c\n', "q.csv:5: 'references' is not JSON"),
        ("question,references,corpus_id\nq,[],c\nq,[]\n", "q.csv:3: 2 cells; expected 3"),
        ('question,references,corpus_id\n"q,[],c\n', "q.csv:2: not CSV"),
        ("question,references,corpus_id\nq,[],c\n", "nothing to import"),
    ],
)
def test_chroma_refuses(write: Write, text: str, message: str) -> None:
    write("c.txt", "text")
    with pytest.raises(GoldenError) as caught:
        IMPORTERS["chroma"](write("q.csv", text))
    assert message in str(caught.value)


# --- SQuAD


def squad_file(*questions: dict[str, Any]) -> dict[str, Any]:
    paragraphs = [
        {"context": "Model A12 was sold in 2012.", "qas": []},
        {"context": "The crew numbered 12 people, 12 in all.", "qas": list(questions)},
    ]
    return {"version": "v2.0", "data": [{"title": "Ships/Crews", "paragraphs": paragraphs}]}


def squad_question(*answers: tuple[str, int], **changes: Any) -> dict[str, Any]:
    given = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": "s1", "question": "How many?", "answers": given, **changes}


def test_squad_keeps_the_annotators_place_alone(write: Write) -> None:
    asked = squad_question(("12", 18), ("12 people", 18), ("12", 18))
    never = squad_question(id="s2", is_impossible=True, plausible_answers=[{"text": "12", "answer_start": 18}])
    result = IMPORTERS["squad"](write("dev.json", squad_file(asked, never)))
    assert result.documents == [
        ("Ships_Crews.txt", "Model A12 was sold in 2012.\n\nThe crew numbered 12 people, 12 in all.")
    ]
    one, two = result.questions
    assert places(one["evidence"][0]) == [("Ships_Crews.txt", 47, 56)]
    assert (one["answer"], one["answers"], one["meta"]) == ("12", ["12", "12 people"], {"paragraph": [29, 68]})
    assert (two["answerable"], two["document"], two["evidence"]) == (False, "Ships_Crews.txt", [])
    assert "answers" not in two


def test_squad_wrong_offset_is_searched_in_its_paragraph_only(write: Write) -> None:
    lost = squad_question(("2012", 3), id="s2")
    result = IMPORTERS["squad"](write("dev.json", squad_file(squad_question(("12", 0)), lost)))
    assert [places(row["evidence"][0]) for row in result.questions] == [
        [("Ships_Crews.txt", 47, 49), ("Ships_Crews.txt", 58, 60)]
    ]
    moved, absent = result.problems
    assert "data[0] paragraphs[1] qas[0]: moved to Ships_Crews.txt [47, 49)" in moved
    assert "qas[1]: not found in Ships_Crews.txt: '2012'; question s2 kept out" in absent


def test_squad_titles_that_clash_stay_apart(write: Write) -> None:
    data = squad_file(squad_question(("12", 18)))
    other = {"title": "ships?crews", "paragraphs": [{"context": "x", "qas": []}]}
    result = IMPORTERS["squad"](write("dev.json", {"data": [*data["data"], other]}))
    assert [doc_id for doc_id, _ in result.documents] == ["Ships_Crews.txt", "ships_crews_2.txt"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('{\n"data": }', "dev.json:2: not JSON"),
        ([], "not an object"),
        ({"dat": []}, "key 'data' is missing (found: dat); expected a list"),
        ({"data": [{"title": "t", "paragraphs": [{"qas": []}]}]}, "data[0] paragraphs[0]: key 'context' is missing"),
        (squad_file({"id": "s", "question": "q"}), "qas[0]: key 'answers' is missing"),
        (squad_file(squad_question()), "no evidence given; question s1 kept out"),
    ],
)
def test_squad_refuses(write: Write, value: Any, message: str) -> None:
    with pytest.raises(GoldenError) as caught:
        IMPORTERS["squad"](write("dev.json", value))
    assert message in str(caught.value)


# --- BEIR


def beir_folder(write: Write) -> None:
    write(
        "b/corpus.jsonl",
        (
            {"_id": "d/1", "title": "Fees", "text": "Five."},
            {"_id": "d:1", "text": "Nine."},
            {"_id": "z", "text": "No."},
        ),
    )
    write("b/queries.jsonl", ({"_id": "1", "text": "Which fee?"}, {"_id": "2", "text": "Unjudged?"}))
    write("b/qrels/test.tsv", "query-id\tcorpus-id\tscore\r\n1\td/1\t2\r\n1\tz\t0\r\n")


def test_beir_judgements_are_evidence_over_the_whole_text(write: Write, tmp_path: Path) -> None:
    beir_folder(write)
    write("b/qrels/train.tsv", "1\td:1\t1\n1\tgone\t1\n9\td/1\t1\n")
    result = IMPORTERS["beir"](tmp_path / "b")
    assert result.documents == [("d_1.txt", "Fees\n\nFive."), ("d_1_2.txt", "Nine."), ("z.txt", "No.")]
    (row,) = result.questions
    assert [places(item) for item in row["evidence"]] == [[("d_1.txt", 0, 11)], [("d_1_2.txt", 0, 5)]]
    assert row["meta"] == {"evidence": "whole documents", "relevance": {"d/1": 2.0, "z": 0.0, "d:1": 1.0, "gone": 1.0}}
    missing, unjudged, unknown = result.problems
    assert "queries.jsonl:1: document 'corpus-id gone' is missing; question 1 kept with the part located" in missing
    assert "1 queries have no judgement; kept out" in unjudged
    assert "query '9' is not in queries.jsonl; kept out" in unknown


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("qrels/test.tsv", "1\td/1\n", "test.tsv:1: found '1\\td/1'; expected query-id, corpus-id and a number"),
        ("qrels/test.tsv", "1\td/1\tyes\n", "test.tsv:1: found"),
        ("corpus.jsonl", ({"_id": "x", "text": ""}, {"_id": "x", "text": ""}), "corpus.jsonl:2: _id 'x' stands twice"),
        ("queries.jsonl", ({"id": "x"},), "queries.jsonl:1: key '_id' is missing (found: id); expected a string"),
    ],
)
def test_beir_refuses(write: Write, tmp_path: Path, name: str, content: Any, message: str) -> None:
    beir_folder(write)
    write(f"b/{name}", content)
    with pytest.raises(GoldenError) as caught:
        IMPORTERS["beir"](tmp_path / "b")
    assert message in str(caught.value)


def test_beir_needs_judgements(write: Write, tmp_path: Path) -> None:
    beir_folder(write)
    (tmp_path / "b/qrels/test.tsv").unlink()
    with pytest.raises(GoldenError, match=r"qrels: no \.tsv file"):
        IMPORTERS["beir"](tmp_path / "b")


# --- question and context rows


ROW_FORMS = {
    "rows.jsonl": ({"user_input": "Which?", "reference": "Five.", "reference_contexts": ["The fee\nis five."]},),
    "list.json": [{"input": "Which?", "expected_output": "Five.", "context": ["The fee\nis five."]}],
    "data.json": {"samples": [{"question": "Which?", "ground_truth": "Five.", "contexts": ["The fee\nis five."]}]},
    "json.csv": 'question,answer,contexts\nWhich?,Five.,"[""The fee\\nis five.""]"\n',
    "python.csv": "question,answer,contexts\nWhich?,Five.,\"['The fee\\nis five.']\"\n",
    "plain.csv": 'question,answer,contexts\r\nWhich?,Five.,"The fee\nis five."\r\n',
}


@pytest.mark.parametrize("name", ROW_FORMS)
def test_rows_of_every_form(write: Write, name: str) -> None:
    write("documents/fees/a.md", "# Fees\n\nThe fee\nis five. Yes: The fee\nis five.")
    write("documents/b.txt", "The fee\nis five.")
    write("documents/.hidden", b"\xff")
    result = IMPORTERS["rows"](write(name, ROW_FORMS[name]))
    (row,) = result.questions
    assert places(row["evidence"][0]) == [("b.txt", 0, 16), ("fees/a.md", 8, 24), ("fees/a.md", 30, 46)]
    assert (row["question"], row["answer"], row["question_id"]) == ("Which?", "Five.", f"{name.split('.')[0]}-0000")
    assert result.problems == []


def test_rows_without_documents_make_them_and_say_so(write: Write) -> None:
    rows = [
        {"id": 0, "question": "a?", "answer": "said", "ground_truths": ["x", "y"], "contexts": ["Same.", "Other."]},
        {"id": 1, "question": "b?", "retrieved_contexts": ["Same."], "category": "easy"},
        {"id": 2, "question": "c?", "contexts": []},
        {"id": 3, "question": "d?", "answerable": False, "contexts": ["Other."]},
    ]
    result = IMPORTERS["rows"](write("set.json", rows))
    assert result.documents == [("context_0001.txt", "Same."), ("context_0002.txt", "Other.")]
    assert [row["question_id"] for row in result.questions] == ["0", "1", "3"]
    first, second, third = result.questions
    assert [places(item) for item in first["evidence"]] == [[("context_0001.txt", 0, 5)], [("context_0002.txt", 0, 6)]]
    assert (first["answer"], first["answers"]) == ("x", ["x", "y"])
    assert (second["category"], third["answerable"], third["evidence"]) == ("easy", False, [])
    made, kept_out, retrieved = result.problems
    assert "no folder documents/ beside it; 2 distinct contexts became documents" in made
    assert "rows[2]: no evidence given; question 2 kept out" in kept_out
    assert "1 rows have retrieved contexts only" in retrieved


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.parquet", "", "suffix '.parquet'; expected .json, .jsonl or .csv"),
        ("x.json", {"a": [], "b": []}, "expected a list of rows"),
        ("x.json", [{"contexts": ["a"]}], "rows[0]: no question (found: contexts)"),
        ("x.jsonl", ({"question": "q", "contexts": {"a": 1}},), "x.jsonl:1: 'contexts' is"),
        ("x.jsonl", ({"question": "q", "contexts": [1]},), "expected a list of strings"),
        ("x.jsonl", ({"question": "q", "answer": 5, "contexts": ["a"]},), "'answer' is '5'"),
        ("x.csv", "", "nothing to import"),
    ],
)
def test_rows_refuse(write: Write, name: str, content: Any, message: str) -> None:
    with pytest.raises(GoldenError) as caught:
        IMPORTERS["rows"](write(name, content))
    assert message in str(caught.value)


# --- LegalBench-RAG


def legal_test(path: str, span: Any, **more: Any) -> dict[str, Any]:
    return {"query": "Which clause?", "snippets": [{"file_path": path, "span": span, **more}]}


def test_legalbench_spans(write: Write) -> None:
    write("corpus/nda/a.txt", "Clause 1.\r\nClause 2.\r\nClause 2.")
    write("corpus/nda/unused.txt", "x")
    tests = [
        legal_test("nda/a.txt", [11, 20], answer="Clause 2."),
        legal_test("nda/a.txt", [10, 19], answer="Clause 1.\nClause 2."),
        legal_test("nda/a.txt", [0, 9]),
        legal_test("nda/a.txt", [0, 900]),
        legal_test("nda/gone.txt", [0, 9]),
    ]
    result = IMPORTERS["legalbench"](write("benchmarks/nda.json", {"tests": tests}))
    assert [doc_id for doc_id, _ in result.documents] == ["nda/a.txt"]
    assert [places(row["evidence"][0]) for row in result.questions] == [
        [("nda/a.txt", 11, 20)], [("nda/a.txt", 0, 20)], [("nda/a.txt", 0, 9)],
    ]  # fmt: skip
    assert (result.questions[0]["question_id"], result.questions[0]["category"]) == ("nda-0000", "nda")
    moved, unsure, _, outside, absent = result.problems
    assert "tests[1]: moved to nda/a.txt [0, 20), white space differs" in moved
    assert "tests[2] snippets[0]: nda/a.txt has CRLF and the span no text" in unsure
    assert "tests[3]: offsets (0, 900) select no text of nda/a.txt; question nda-0003 kept out" in outside
    assert "tests[4]: document 'nda/gone.txt' is missing; question nda-0004 kept out" in absent


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "not an object"),
        ({"tests": [legal_test("a.txt", [1])]}, "tests[0] snippets[0]: 'span' is [1]; expected two whole numbers"),
        ({"tests": [legal_test("a.txt", [0, True])]}, "'span' is [0, True]"),
        ({"tests": [legal_test("../a.txt", [0, 1])]}, "file_path '../a.txt' leaves the corpus"),
        ({"tests": [{"query": "q"}]}, "tests[0]: key 'snippets' is missing"),
    ],
)
def test_legalbench_refuses(write: Write, value: Any, message: str) -> None:
    write("corpus/a.txt", "text")
    with pytest.raises(GoldenError) as caught:
        IMPORTERS["legalbench"](write("x.json", value))
    assert message in str(caught.value)


def test_legalbench_needs_its_corpus(write: Write) -> None:
    with pytest.raises(GoldenError, match="no corpus folder"):
        IMPORTERS["legalbench"](write("deep/x.json", {"tests": []}))


# --- writing


def test_run_import_writes_bytes_as_they_were(write: Write, tmp_path: Path) -> None:
    content = "\ufeffThe fee.\r\nNo\ttax\f\u00a0\U0001f600\u2028 fee\r".encode()
    write("in/corpus/sub/a.txt", content)
    write("in/golden.jsonl", (shared_row(evidence=[{"doc": "sub/a.txt", "start": 5, "end": 8, "text": "fee"}]),))
    result = run_import("shared", tmp_path / "in", tmp_path / "new/out")
    assert (tmp_path / "new/out/documents/sub/a.txt").read_bytes() == content
    lines = (tmp_path / "new/out/golden.jsonl").read_bytes().decode().split("\n")
    assert [json.loads(line) for line in lines if line] == result.questions
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]


def test_what_is_written_is_a_golden_set_of_ours(write: Write, tmp_path: Path) -> None:
    lost = {"doc": "gone.txt", "start": 0, "end": 3, "text": "fee"}
    late = {"doc": "b\u00e9.txt", "start": 0, "end": 3, "text": "fee"}
    write("in/corpus/a.txt", "\ufeffThe fee.\r\nNo\ttax\f\u00a0\U0001f600\u2028 fee")
    write("in/corpus/be\u0301.txt", "fee")
    write("in/corpus/blank.txt", "\ufeff \n")
    rows = (
        shared_row(id="q 1", evidence=[*shared_row()["evidence"], late, lost], category="multi_hop", answers=["", "x"]),
        shared_row(id="q2", evidence=[late, lost], category="multi_hop", answers=[""]),
        shared_row(id="q3", evidence=[], answer=None, doc="gone.txt"),
        shared_row(id="q4", evidence=[], answer=None, doc="a.txt"),
    )
    write("in/golden.jsonl", rows)
    result = run_import("shared", tmp_path / "in", tmp_path / "out")
    assert "blank.txt: holds no text; document left out" in result.problems
    golden = tmp_path / "in/golden.jsonl"
    assert f"{golden}:3: document 'gone.txt' is missing; question q3 kept without" in result.problems
    documents = load_documents(tmp_path / "out/documents")
    reading = read_golden(tmp_path / "out/golden.jsonl", documents)
    assert list(reading.problems) == []
    assert [question.question_id for question in reading.questions] == ["q_1", "q2", "q3", "q4"]
    assert [question.required_sources for question in reading.questions] == [("a.txt", "b\u00e9.txt"), (), (), ()]
    assert [question.meta.get("document") for question in reading.questions] == [None, None, None, "a.txt"]


def test_run_import_never_overwrites(write: Write, tmp_path: Path) -> None:
    write("in/corpus/a.txt", "The fee.")
    write("in/golden.jsonl", (shared_row(),))
    (tmp_path / "empty").mkdir()
    run_import("shared", tmp_path / "in", tmp_path / "empty")
    before = (tmp_path / "empty/golden.jsonl").read_bytes()
    for target in (tmp_path / "empty", tmp_path / "in/golden.jsonl"):
        with pytest.raises(StoreError, match="is not an empty folder"):
            run_import("shared", tmp_path / "in", target)
    assert (tmp_path / "empty/golden.jsonl").read_bytes() == before
    with pytest.raises(StoreError, match="cannot be written"):
        run_import("shared", tmp_path / "in", tmp_path / "in/golden.jsonl/out")


def test_run_import_refuses_unknown_formats_and_sources(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no format 'squadd'.*did you mean 'squad'"):
        run_import("squadd", tmp_path, tmp_path / "out")
    with pytest.raises(GoldenError, match="no such file or folder"):
        run_import("squad", tmp_path / "none.json", tmp_path / "out")


def test_run_import_refuses_what_no_document_can_hold(write: Write, tmp_path: Path) -> None:
    for bad, what in (("\ud800", "half of a surrogate pair"), ("\0", "NUL")):
        source = write("x.jsonl", ({"question": "q?", "contexts": [f"bad {bad}"]},))
        with pytest.raises(GoldenError, match=rf"context_0001\.txt: character 4 is {what}"):
            run_import("rows", source, tmp_path / "out")
    assert not (tmp_path / "out").exists()
