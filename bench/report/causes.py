"""The causes of a miss, in the order in which they are looked for, each with what to try."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause. ``change`` names what to turn: the corpus, the chunker, the embedder, the retrieval, the prompt…"""

    name: str
    title: str
    change: str
    remedy: str


CAUSES: tuple[Cause, ...] = (
    Cause(
        "not_in_corpus",
        "not in the corpus",
        "corpus",
        "Add the document, widen the question's scope, or mark the question as unanswerable.",
    ),
    Cause(
        "lost_at_loading",
        "lost at loading",
        "loading",
        "Look at how the document is read: bench golden verify shows the text as loaded; try another file format or "
        "extractor, or a chunker that drops nothing.",
    ),
    Cause(
        "evidence_cut",
        "evidence cut by a chunk border",
        "chunker",
        "Try a strategy that keeps tables, lists and sentences whole, a larger size, or an overlap as long as the "
        "evidence.",
    ),
    Cause(
        "truncated",
        "truncated by the embedder",
        "chunker or embedder",
        "Make chunks fit the embedder's limit, or take an embedder that reads longer texts.",
    ),
    Cause(
        "wrong_document",
        "wrong or superseded document",
        "retrieval",
        "Filter by revision or document, add the title to what is indexed (contextual headers), or rerank.",
    ),
    Cause(
        "crowded_out",
        "crowded out by duplicates",
        "overlap or retrieval",
        "Lower the overlap, remove near-duplicates from the results, or raise the budget.",
    ),
    Cause(
        "diluted",
        "diluted in a large chunk",
        "chunker",
        "Try smaller chunks, or index small and hand over large (parent-child, sentence window).",
    ),
    Cause(
        "ranked_below",
        "ranked below the cut",
        "embedder or k",
        "Try another embedder, hybrid search or a reranker; a larger k or budget reaches it at the rank that is named.",
    ),
    Cause(
        "declined_wrongly",
        "declined wrongly",
        "prompt",
        "The evidence was there: soften the instruction to decline, or lower the generator's threshold.",
    ),
    Cause(
        "answered_unanswerable",
        "answered what has no answer",
        "prompt",
        "Ask more firmly to decline, raise the generator's threshold, or check that this really has no answer.",
    ),
    Cause(
        "judge_failed",
        "judge failed",
        "judge",
        "Look at the raw reply; another judge, a longer reply limit, or a repeated run may help.",
    ),
    Cause(
        "unused",
        "retrieved and not used",
        "prompt",
        "Put the best passages first or last, hand over fewer, or try a stronger generator.",
    ),
    Cause(
        "unsupported",
        "unsupported addition",
        "prompt",
        "Ask for claims from the passages alone; try a stronger generator, temperature 0.",
    ),
    Cause(
        "wrong_citation",
        "wrong citation",
        "prompt",
        "Number the passages, ask for one citation a claim, and check them before they are shown.",
    ),
)
NAMES: tuple[str, ...] = tuple(cause.name for cause in CAUSES)
BY_NAME: dict[str, Cause] = {cause.name: cause for cause in CAUSES}
