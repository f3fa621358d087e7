"""The corpora of bad input that nobody of this project wrote."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def corpora() -> Path:
    """Return the folder of the corpora; skip where it is not there."""
    folder = Path(os.environ.get("KMEM_CORPORA") or ROOT.parent / "shared" / "corpora")
    if not (folder / "bad-input").is_dir():
        pytest.skip(f"the corpora are not at {folder}: set KMEM_CORPORA")
    return folder


def bad_input(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of bad input."""
    text = (corpora() / "bad-input" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def raw_frames() -> list[bytes]:
    """Return the raw frames, one a line; what lies between two line breaks is a frame too."""
    return (corpora() / "bad-input" / "jsonrpc-raw.bin").read_bytes().split(b"\n")


def golden_tools() -> list[dict[str, Any]]:
    """Return the reference server's tools/list."""
    tools = json.loads((Path(__file__).with_name("reference-memory-tools.json")).read_text("utf-8"))
    assert isinstance(tools, list)
    return tools
