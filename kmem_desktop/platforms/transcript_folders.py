"""Where programs of assistants keep their transcripts on this computer, and for how long.

References:
    Anthropic, "Claude Code settings" (`CLAUDE_CONFIG_DIR`, `cleanupPeriodDays`); openai/codex,
    docs/config.md (`CODEX_HOME`); google-gemini/gemini-cli, packages/core (storage.ts).
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

LONGEST_SETTINGS_BYTES = 1_000_000


class TranscriptFolders:
    """The folders of one user."""

    def __init__(
        self, home: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Look below `home`, by the variables of `environment`; by default this process's."""
        self._home = home
        self._environment = environment

    def claude_code(self) -> Path:
        """Return where Claude Code keeps transcripts."""
        return self._claude_home() / "projects"

    def codex(self) -> Path:
        """Return where Codex CLI keeps rollouts."""
        return self._named("CODEX_HOME", ".codex") / "sessions"

    def gemini(self) -> Path:
        """Return where Gemini CLI keeps chats, each project's in a folder of its own."""
        return self._user_folder() / ".gemini" / "tmp"

    def claude_code_kept_days(self, usual: int) -> int:
        """Return after how many days without a change Claude Code deletes a transcript."""
        try:
            with (self._claude_home() / "settings.json").open("rb") as file:
                settings = json.loads(file.read(LONGEST_SETTINGS_BYTES))
            days = settings.get("cleanupPeriodDays")
        except (OSError, ValueError, AttributeError, RecursionError):
            return usual
        is_number = isinstance(days, int) and not isinstance(days, bool)
        return days if is_number and 0 <= days < 10**6 else usual

    def _claude_home(self) -> Path:
        return self._named("CLAUDE_CONFIG_DIR", ".claude")

    def _named(self, variable: str, name: str) -> Path:
        environment = os.environ if self._environment is None else self._environment
        named = environment.get(variable, "")
        return Path(named).expanduser() if named else self._user_folder() / name

    def _user_folder(self) -> Path:
        return self._home or Path.home()
