"""Files of a decision that run as they are: the configuration, and a program that makes the chunks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.decision.table import Table
from bench.files import remove
from bench.production import Production
from bench.store import PointRecord, Sweep, write_bytes
from bench.types import Document

PROGRAMS = {"bench.chunkers.recursive.Recursive": "recursive", "bench.chunkers.fixed.Fixed": "windows"}
COMPARED_CHARS = 2_000_000


def write_production(table: Table, decision: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write ``production.yaml`` and ``production_chunker.py`` of the chosen point; without one, remove old ones."""
    config_path, program_path = folder / "production.yaml", folder / "production_chunker.py"
    for path in (config_path, program_path):
        remove(path)
    if decision["chosen"] is None:
        return []
    record = table.points[table.find(decision["chosen"]["point_id"])]
    write_bytes(config_path, production_yaml(record, str(table.header["name"])).encode())
    if "_target_" not in record.config.get("chunker", {}):
        return [config_path]
    documents = Sweep(table.folder).documents()
    write_bytes(program_path, production_program(record.config, documents).encode())
    return [config_path, program_path]


def production_yaml(record: PointRecord, sweep: str) -> str:
    """The point's configuration as ``bench sweep --config`` and ``bench cut --config`` read it.

    Every group is set whole, so that no default of another choice can leak into it.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Strings with line breaks in double quotes: a separator is read as it is written."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = '"' if not value.isprintable() else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    groups = [key for key, value in record.config.items() if isinstance(value, Mapping) and "_target_" in value]
    defaults = [{f"override /{group}": None} for group in groups]
    content = {"defaults": defaults, "sweep": {"name": f"{sweep}-production"}, **record.config}
    header = (
        f"# {' '.join(record.label.split())}: chosen by bench decide from the sweep {sweep}, point {record.point_id}.\n"
        "# Run it again: bench sweep --config production.yaml\n"
        "# Cut a folder: bench cut --config production.yaml FOLDER -o chunks.jsonl\n"
    )
    return header + yaml.dump(content, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1000)


def production_program(config: Mapping[str, Any], documents: Sequence[Document]) -> str:
    """A Python program that makes the same chunks.

    With LangChain or a tokenizer alone where the strategy allows it and every span of ``documents`` is the same (up to
    two million characters are compared: LangChain cuts graphemes that a sweep keeps whole); else with this package.
    """
    name = _stand_alone(config, documents)
    if name:
        program = _filled(name, _settings(config["chunker"]))
        if _makes_the_same(program, config, documents):
            return program
    embedder, html = config.get("embedder"), config.get("corpus", {}).get("html", "source")
    settings = {"chunker": dict(config["chunker"]), "embedder": embedder and dict(embedder), "html": html}
    return _filled("package", settings)


def _stand_alone(config: Mapping[str, Any], documents: Sequence[Document]) -> str:
    """Name of the program that needs no package of ours, "" where there is none."""
    chunker = config["chunker"]
    html = config.get("corpus", {}).get("html", "source")
    if any(d.format == "pdf" or (html == "markdown" and d.doc_id.endswith((".html", ".htm"))) for d in documents):
        return ""
    own_regex = chunker.get("regex") and chunker.get("separators") is not None
    return "" if own_regex else PROGRAMS.get(chunker["_target_"], "")


def _filled(name: str, settings: Mapping[str, Any]) -> str:
    template = (Path(__file__).parent / "programs" / f"{name}.py").read_text(encoding="utf-8")
    written = "".join(f"    {key!r}: {value!r},\n" for key, value in settings.items())
    return re.sub(r"(?ms)^(SETTINGS: [^\n]*\{\n).*?^\}", lambda found: found[1] + written + "}", template, count=1)


def _makes_the_same(program: str, config: Mapping[str, Any], documents: Sequence[Document]) -> bool:
    ours, left = Production.of(config["chunker"]), COMPARED_CHARS
    namespace: dict[str, Any] = {"__name__": "production_chunker"}
    exec(compile(program, "production_chunker.py", "exec"), namespace)
    for document in documents:
        if left <= 0:
            break
        left -= len(document.text)
        if [(row["start"], row["end"]) for row in ours.rows(document)] != namespace["chunks"](document.text):
            return False
    return True


def _settings(chunker: Mapping[str, Any]) -> dict[str, Any]:
    names = ("size", "overlap", "unit", "tokenizer", "keep", "strip")
    settings = {key: chunker[key] for key in names if key in chunker}
    settings["overlap"] = _units(settings["overlap"], settings["size"])
    return settings | (_separators(chunker) if "separators" in chunker else {})


def _separators(chunker: Mapping[str, Any]) -> dict[str, Any]:
    if chunker["separators"] is not None:
        return {"separators": list(chunker["separators"]), "regex": chunker["regex"]}
    from bench.chunkers.recursive import MULTILINGUAL

    return {"separators": list(MULTILINGUAL), "regex": True}


def _units(overlap: float, size: int) -> int:
    """An overlap below 1 is a share of the size, rounded down."""
    return int(overlap) if overlap >= 1 else int(size * overlap + 1e-9)
