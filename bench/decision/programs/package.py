"""Makes the chosen chunks. Run: python production_chunker.py FILE... > chunks.jsonl

The chosen strategy has no equal in another library, so this program needs the package chunksweep. Offsets are
half-open code points of the text as loaded.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.production import Production

SETTINGS: dict[str, Any] = {
    "chunker": {"_target_": "bench.chunkers.recursive.Recursive"},
    "embedder": None,
    "html": "source",
}


def main() -> None:
    """Write one JSON line a chunk of each file."""
    production = Production.of(SETTINGS["chunker"], SETTINGS["embedder"], SETTINGS["html"])
    for name in sys.argv[1:]:
        for row in production.rows(production.document(Path(name))):
            sys.stdout.write(json.dumps({"file": name, **row}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
