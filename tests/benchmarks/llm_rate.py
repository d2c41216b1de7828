"""Calls a second against a loopback server of fixed delay, as a share of the ideal.

Run it with ``python -m tests.benchmarks.llm_rate``.

The server is another process: in production it is, too.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.llm import Client, ReplyCache
from bench.replies import Endpoint, Request

DELAY_S, CALLS_EACH = 0.1, 40
LEAST = 0.9
SERVER = f"""
import time
from tests.faultserver import Act, FaultServer, completion
with FaultServer(lambda body, n: Act(body=completion("ok"), delay_s={DELAY_S})) as server:
    print(server.url, flush=True)
    time.sleep(600)
"""


def rate(url: str, concurrency: int, folder: Path) -> float:
    """Return the share of the ideal rate, the first connections made."""
    cache = ReplyCache(folder / f"replies{concurrency}.sqlite")
    client = Client(Endpoint(model="m", base_url=url, max_concurrency=concurrency), cache)
    requests = [Request((("user", f"question {n}"),)) for n in range(CALLS_EACH * concurrency)]
    start = time.perf_counter()
    replies = client.ask(requests)
    taken = time.perf_counter() - start
    if any(reply.state != "ok" for reply in replies):
        raise SystemExit("a call failed")
    return CALLS_EACH * DELAY_S / taken


def main() -> int:
    """Print the table; 1 if a rate is below 90 % of the ideal."""
    with (
        subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        if server.stdout is None:
            raise SystemExit("the server has no output")
        url = server.stdout.readline().strip()
        print("| concurrency | calls/s | share of ideal |\n|---|---|---|")
        shares = {}
        for concurrency in (1, 4, 8, 16):
            shares[concurrency] = rate(url, concurrency, Path(folder))
            print(f"| {concurrency} | {shares[concurrency] * concurrency / DELAY_S:.1f} | {shares[concurrency]:.3f} |")
        server.kill()
    return int(min(shares.values()) < LEAST)


if __name__ == "__main__":
    raise SystemExit(main())
