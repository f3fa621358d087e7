"""What tests of several rooms share."""

import os
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import apsw
import pytest

from kmem_desktop import bootstrap
from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths, paths
from kmem_desktop.domain.changes import Origin, OriginKind

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def profile(tmp_path: Path) -> Paths:
    """The paths of a profile of its own."""
    return paths(str(tmp_path / "kmem.db"))


@pytest.fixture
def _only_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedding model is there: words alone decide what is found, now and at each run."""
    monkeypatch.setattr(bootstrap, "resource_path", lambda name: tmp_path / "no-model" / name)


@pytest.fixture
async def services(profile: Paths, _only_words: None) -> AsyncIterator[Services]:
    """The use cases on a fresh database, without an embedding model."""
    async with opened_services(profile) as opened:
        yield opened


@pytest.fixture
def origin() -> Origin:
    """Somebody who asks for changes."""
    return Origin(OriginKind.CLIENT, "Claude Code", tool="a_tool")


@pytest.fixture
def bad_input() -> Path:
    """The corpus of bad input that nobody of this project wrote; skips where it is not there."""
    folder = Path(os.environ.get("KMEM_CORPORA") or ROOT.parent / "shared" / "corpora")
    if not (folder / "bad-input").is_dir():
        pytest.skip(f"the corpora are not at {folder}: set KMEM_CORPORA")
    return folder / "bad-input"


@pytest.fixture
def leaves_nothing_open() -> Iterator[None]:
    """Fail a test that leaves a database connection or one of its threads behind."""
    yield
    left = apsw.connections()
    names = [connection.filename for connection in left]
    for connection in left:
        connection.close(True)  # so that one test does not fail the next
    assert names == []
    assert [t.name for t in threading.enumerate() if t.name.startswith("kmem-")] == []
