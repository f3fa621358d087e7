from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.programs import Memory


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "clients: runs the command lines of real MCP clients")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database; whatever serves it is ended."""
    monkeypatch.delenv("KMEM_DB", raising=False)
    memory = Memory(tmp_path / "kmem.db")
    yield memory
    memory.close()
