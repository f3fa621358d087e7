"""llama.cpp's own server with a model, by xllamacpp; run by the interpreter that has it.

    python llama_server.py MODEL.gguf

It prints its address, and ends with its standard input.
"""

import sys

import xllamacpp  # type: ignore[import-not-found]


def main() -> None:
    """Serve until nobody wants it any more."""
    settings = xllamacpp.CommonParams()
    settings.model.path = sys.argv[1]
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.embedding = True
    settings.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.warmup = False
    settings.cpuparams.n_threads = 2
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
