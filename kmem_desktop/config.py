"""Where kmem keeps its files, and the settings a person can change."""

import json
import logging
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import platformdirs

from kmem_desktop.address import default_database

log = logging.getLogger(__name__)

APP_NAME = "kmem"

_PACKAGE = Path(__file__).resolve().parent


def resource_path(name: str) -> Path:
    """Return where the resource file or folder with this relative name is.

    Installed, resources lie in the package; in a checkout beside it.
    """
    installed = _PACKAGE / "resources" / name
    return installed if installed.exists() else _PACKAGE.parent / "resources" / name


@dataclass(frozen=True, slots=True)
class Paths:
    """The files and folders of one profile.

    Attributes:
        database: The SQLite file.
        settings: The settings, JSON.
        log: The log file.
        is_default: Whether the database is the one that is used when none is named.
    """

    database: Path
    settings: Path
    log: Path
    is_default: bool


def paths(database: str | None) -> Paths:
    """Return the paths for the named database, or for the default one.

    A named database keeps settings and log beside it, so that two profiles never meet.
    """
    if database is not None:
        file = Path(database)
        return Paths(
            database=file,
            settings=file.with_name(f"{file.name}-settings.json"),
            log=file.with_name(f"{file.name}.log"),
            is_default=False,
        )
    return Paths(
        database=Path(default_database()),
        settings=platformdirs.user_config_path(APP_NAME, appauthor=False) / "settings.json",
        log=platformdirs.user_log_path(APP_NAME, appauthor=False) / "kmem.log",
        is_default=True,
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose.

    Attributes:
        theme: "system", "light" or "dark".
        zoom_percent: The size of text, 80 to 200.
        told_that_closing_hides: Whether the window has said once that closing only hides it.
        window_geometry: Qt's saved geometry as base64; empty for the default.
        hands_out_proposed_rules: Whether assistants get rules that no person has approved yet.
        hands_out_proposed_knowledge: Whether assistants get what waits in the inbox, marked so.
        archive_after_days: A session that was not continued for so long is archived, 1 to 3,650.
        deletes_archived_sessions: Whether archived sessions are deleted at all.
        delete_after_days: An archived session is deleted after so long, if that is on, 1 to 3,650.
        models: For each purpose of an AI model the one that was chosen; see services/models.
        model_servers: Further servers of AI models, by name and URL.
        follows_transcripts: The programs whose transcripts are kept while they grow.
        asked_about_transcripts: Whether a person has answered if transcripts are to be kept.
    """

    theme: str = "system"
    zoom_percent: int = 100
    told_that_closing_hides: bool = False
    window_geometry: str = ""
    hands_out_proposed_rules: bool = True
    hands_out_proposed_knowledge: bool = False
    archive_after_days: int = 7
    deletes_archived_sessions: bool = False
    delete_after_days: int = 90
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    model_servers: dict[str, str] = field(default_factory=dict)
    follows_transcripts: list[str] = field(default_factory=list)
    asked_about_transcripts: bool = False


class SettingsFile:
    """The settings on the disk; a damaged file is kept aside and the defaults are used."""

    def __init__(self, path: Path) -> None:
        """Read the settings at `path`."""
        self._path = path
        self._stamp = self._stamp_now()
        self.current = self._load(Settings())

    def refresh(self) -> Settings:
        """Read again what another part of kmem, or another process, may have changed.

        Asked for by each query of rules: the file is only opened when it is another one, or of
        another time or length. Each save writes a new file, so that its number tells one from the
        next where the clock is too coarse.
        """
        stamp = self._stamp_now()
        if stamp is None or stamp != self._stamp:
            self.current = self._load(self.current)
            self._stamp = stamp
        return self.current

    def _stamp_now(self) -> tuple[int, int, int] | None:
        """Return what tells the file from every other; None where there is none."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def change(self, **values: Any) -> Settings:
        """Change some settings and save them at once; the others stay as they are on the disk."""
        self.current = replace(self.refresh(), **values)
        self._save()
        return self.current

    def _load(self, otherwise: Settings) -> Settings:
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return _known(stored)
        except FileNotFoundError:
            return otherwise
        except (OSError, ValueError, TypeError, RecursionError):
            log.warning("The settings %s could not be read; the defaults are used", self._path)
            return otherwise

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._path.with_name(f"{self._path.name}.new")
        temporary.write_text(json.dumps(asdict(self.current), indent=2) + "\n", encoding="utf-8")
        temporary.replace(self._path)


def _known(stored: Any) -> Settings:
    """Take the settings that this version knows and that have the right type."""
    if not isinstance(stored, dict):
        raise TypeError("settings must be an object")
    default = Settings()
    values = {
        field.name: stored[field.name]
        for field in fields(Settings)
        if type(stored.get(field.name)) is type(getattr(default, field.name))
    }
    settings = replace(default, **values)
    zoom = min(200, max(80, settings.zoom_percent))
    theme = settings.theme if settings.theme in ("system", "light", "dark") else "system"
    return replace(
        settings,
        zoom_percent=zoom,
        theme=theme,
        archive_after_days=_days(settings.archive_after_days),
        delete_after_days=_days(settings.delete_after_days),
    )


def _days(days: int) -> int:
    return min(3_650, max(1, days))
