"""Finds the files that come with the program."""

from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent / "resources"


def resource_path(name: str) -> Path:
    """Return where the resource file with this relative name is."""
    return _FOLDER / name
