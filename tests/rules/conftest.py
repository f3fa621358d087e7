import os
from pathlib import Path

import pytest

from kmem_desktop.domain.rules import RuleDocument
from kmem_desktop.rules.documents.parser import parse

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The corpora that nobody of this project wrote; skips where they are not there."""
    folder = Path(os.environ.get("KMEM_CORPORA") or ROOT.parent / "shared" / "corpora")
    if not (folder / "rules" / "real").is_dir():
        pytest.skip(f"the corpora are not at {folder}: set KMEM_CORPORA")
    return folder


@pytest.fixture(scope="session")
def parsed(corpora: Path) -> list[RuleDocument]:
    """Every rule document of the corpora, as it is understood."""
    folders = (corpora / "rules" / "real", corpora / "rules" / "seed-schema")
    paths = [path for folder in folders for path in sorted(folder.iterdir())]
    return [
        parse(path.name, path.read_bytes().decode("utf-8"))
        for path in paths
        if path.suffix in (".md", ".mdc")
    ]
