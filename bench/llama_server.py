"""The llama.cpp server in a process of its own: ``python -m bench.llama_server MODEL PORT CONTEXT THREADS``.

It ends when its standard input closes, so it cannot outlive the process that started it, however that one ends.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str]) -> None:
    """Serve until the standard input closes."""
    import xllamacpp

    model, port, context, threads = arguments
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.n_ctx, settings.n_parallel = int(context), 1
    settings.hostnames, settings.port = ["127.0.0.1"], int(port)
    settings.warmup = False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = int(threads)
    server = xllamacpp.Server(settings)
    print(f"listening on {server.listening_address}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
