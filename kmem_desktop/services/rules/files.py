"""Rule files on the disk: which there are in a project's folder, and what they say."""

import os
from collections.abc import Iterator
from pathlib import Path

from kmem_desktop.domain.rule_library import DOCUMENT_LENGTH
from kmem_desktop.errors import FormatError, InvalidInputError
from kmem_desktop.rules.documents.names import is_rule_file as is_rule_file

PASSED_OVER = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "bower_components",
        "build",
        "dist",
        "node_modules",
        "site-packages",
        "target",
        "vendor",
        "venv",
    }
)
DEEPEST = 6
MOST_FOLDERS_SEEN = 20_000
MOST_FILES = 1_000
USUAL_PLACES = (
    ".",
    ".claude",
    ".claude/rules",
    ".clinerules",
    ".cursor",
    ".cursor/rules",
    ".github",
    ".github/instructions",
    ".windsurf/rules",
    "docs",
)
"""Where rule files appear; these are watched besides the places of those that are known."""


def rule_files(folder: Path) -> Iterator[Path]:
    """Yield the rule files below a folder; links are not followed, and dependencies passed over."""
    found = 0
    for seen, (place, names, files) in enumerate(os.walk(folder)):
        depth = len(Path(place).relative_to(folder).parts)
        if seen > MOST_FOLDERS_SEEN:
            return
        names[:] = sorted(n for n in names if n not in PASSED_OVER) if depth < DEEPEST else []
        for name in sorted(files):
            path = Path(place, name)
            if is_rule_file(path.relative_to(folder).as_posix()) and path.is_file():
                yield path
                found += 1
                if found == MOST_FILES:
                    return


def watched_places(folder: Path, known: Iterator[Path]) -> set[Path]:
    """Return the folders in which a change of rules shows."""
    places = {folder / place for place in USUAL_PLACES} | {path.parent for path in known}
    return {place for place in places if place.is_dir() and not place.is_symlink()}


def read_document(path: Path) -> str:
    """Return the text of a rule file; what is no UTF-8 is read as far as it can be.

    Raises:
        FormatError: It is no file, too long, or cannot be read.
    """
    try:
        if not path.is_file():
            raise FormatError(f"{path} is no file.")
        with path.open("rb") as file:
            content = file.read(DOCUMENT_LENGTH * 4 + 1)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > DOCUMENT_LENGTH * 4:
        raise FormatError(f"{path} is longer than {DOCUMENT_LENGTH:,} characters.")
    for encoding in ("utf-8-sig", "utf-16") if content[:2] in _UTF16 else ("utf-8-sig",):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("utf-8", "replace")


_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def real_path(path: str) -> Path:
    """Return the path without links in it."""
    return Path(os.path.realpath(Path(path).expanduser()))


def approved_folder(text: str) -> Path:
    """Return the real folder that a person names.

    Raises:
        InvalidInputError: There is no such folder, or it is a whole disk or home.
    """
    folder = real_path(text)
    if not folder.is_dir():
        raise InvalidInputError(f"{text} is no folder.", details={"path": text})
    if folder == Path(folder.anchor) or folder == Path(os.path.realpath(Path.home())):
        raise InvalidInputError(
            f"{folder} is not a project's folder.",
            hint="Name the folder of one project; kmem reads its rule files and watches them.",
            details={"path": str(folder)},
        )
    return folder
