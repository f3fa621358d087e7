"""Which model a person chose for each purpose, and whom texts may be sent to for it."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.models import AUTOMATIC, OFF, Choice, Purpose
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.providers.http.catalogue import Known, is_address, known_servers
from kmem_desktop.services.validation import Problems

LONGEST_NAME = 40
MOST_REMEMBERED = 4
_REMEMBERED = "embeddings before"
"""Stands in the settings beside the purposes."""


class ModelChoices:
    """What a person chose, kept in the settings; others may change them meanwhile."""

    def __init__(
        self, settings: Path, servers: Callable[..., tuple[Known, ...]] = known_servers
    ) -> None:
        """Keep choices in the file `settings`.

        Args:
            settings: The settings of the profile.
            servers: Returns whom kmem knows, given what a person added.
        """
        self._path = settings
        self._servers = servers
        self._file: SettingsFile | None = None

    def all(self) -> dict[Purpose, Choice]:
        """Return the choice for each purpose."""
        stored = self._settings().refresh().models
        return {purpose: _read(stored.get(purpose), purpose) for purpose in Purpose}

    def of(self, purpose: Purpose) -> Choice:
        """Return the choice for a purpose."""
        return self.all()[purpose]

    def known(self) -> tuple[Known, ...]:
        """Return everybody who may serve models, those included that a person added."""
        own: dict[str, Any] = dict(self._settings().refresh().model_servers)
        # The file may have been edited by hand.
        return self._servers({name: url for name, url in own.items() if isinstance(url, str)})

    def known_by_id(self, provider_id: str) -> Known:
        """Return one of them.

        Raises:
            NotFoundError: There is none with this id.
        """
        found = next((each for each in self.known() if each.id == provider_id), None)
        if found is None:
            raise NotFoundError(
                f"There is no provider of models named {provider_id[:LONGEST_NAME]}.",
                hint="kmem models list shows their names.",
            )
        return found

    def allowed_for(self, host: str) -> tuple[Purpose, ...]:
        """Return the purposes for which texts may go to a host; all of them for this computer."""
        choices = self.all()
        return tuple(p for p in Purpose if not host or choices[p].send_to == host)

    def set(self, purpose: Purpose, choice: Choice, *, remote_host: str = "") -> None:
        """Choose for a purpose; it takes the place of what was chosen, and of what was allowed.

        Args:
            purpose: What for.
            choice: Which model, and the host that texts may be sent to.
            remote_host: Where the model really runs, when a local server only passes texts on.

        Raises:
            NotFoundError: There is no such provider.
            InvalidInputError: Texts would leave the computer, and the host was not named.
        """
        host = ""
        if choice.provider not in (AUTOMATIC, OFF):
            host = self.known_by_id(choice.provider).host or remote_host
        if choice.send_to != host:
            raise InvalidInputError(
                f"Texts would be sent to {host}."
                if host
                else f"Nothing would be sent to {choice.send_to[:80]}.",
                hint=f"Allow it by naming that host: --send-to {host}."
                if host
                else "Leave the host out.",
            )
        self._write(purpose, choice)

    def restore(self, purpose: Purpose, choice: Choice) -> None:
        """Write a choice that was looked at before."""
        self._write(purpose, choice)

    def remember(self, choice: Choice) -> None:
        """Keep an embedding model in mind: it serves until the next one has all its vectors."""
        kept = {str(each): asdict(each) for each in self.remembered() if str(each) != str(choice)}
        kept[str(choice)] = asdict(choice)
        stored = dict(self._settings().refresh().models)
        stored[_REMEMBERED] = dict(list(kept.items())[-MOST_REMEMBERED:])
        self._settings().change(models=stored)

    def remembered(self) -> tuple[Choice, ...]:
        """Return the embedding models that were chosen lately, the newest last."""
        stored = self._settings().refresh().models.get(_REMEMBERED)
        found = stored.values() if isinstance(stored, dict) else ()
        read = [_read(each, Purpose.EMBEDDINGS) for each in found]
        return tuple(each for each in read if each.dimension > 0 and each.model)

    def stamp(self) -> tuple[int, ...]:
        """Return what changes when somebody writes the settings; blocks on the disk."""
        try:
            stat = self._path.stat()
        except OSError:
            return ()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def add_server(self, name: str, address: str) -> None:
        """Add a server that speaks OpenAI's language.

        Raises:
            InvalidInputError: The name or the address is none; `details["errors"]` names which.
        """
        name, address = name.strip(), address.strip()
        problems = Problems()
        problems.check("name", lambda: self._name_problem(name))
        problems.check("address", lambda: _address_problem(address))
        problems.raise_if_any()
        own = self._settings().refresh().model_servers
        address = address.rstrip("/").removesuffix("/v1")
        self._settings().change(model_servers={**own, name: address})

    def added(self) -> frozenset[str]:
        """Return the names of the servers that were added."""
        return frozenset(self._settings().refresh().model_servers)

    def _name_problem(self, name: str) -> str | None:
        is_name = 0 < len(name) <= LONGEST_NAME and all(c.isalnum() or c == "-" for c in name)
        if not is_name or not name.isascii() or name in (AUTOMATIC, OFF):
            return f"Name must be 1 to {LONGEST_NAME} letters, digits and hyphens."
        if any(each.id == name for each in self._servers({})):
            return f"Name must be another one: there is a provider named {name} already."
        return None

    def remove_server(self, name: str) -> None:
        """Forget a server that was added; purposes that it served become automatic."""
        own = dict(self._settings().refresh().model_servers)
        own.pop(name, None)
        self._settings().change(model_servers=own)
        for purpose, choice in self.all().items():
            if choice.provider == name:
                self._write(purpose, Choice())

    def _write(self, purpose: Purpose, choice: Choice) -> None:
        stored = dict(self._settings().refresh().models)
        stored[str(purpose)] = asdict(choice)
        self._settings().change(models=stored)

    def _settings(self) -> SettingsFile:
        if self._file is None:
            self._file = SettingsFile(self._path)
        return self._file


def parse_choice(text: str, send_to: str = "") -> Choice:
    """Return the choice that is written "auto", "off", "provider" or "provider:model"."""
    provider, _, model = text.partition(":")
    return Choice(provider, model, send_to)


def _address_problem(address: str) -> str | None:
    if is_address(address):
        return None
    return "Address must be the URL of a server, such as http://127.0.0.1:8000."


def _read(stored: Any, purpose: Purpose) -> Choice:
    """Return a choice of the settings; what is no choice is the default."""
    # Search is good without a model, and no faster with one: reranking is for who asks for it.
    default = Choice(OFF) if purpose is Purpose.RERANKING else Choice()
    if not isinstance(stored, dict):
        return default
    values = {
        name: stored[name]
        for name, value in asdict(default).items()
        if type(stored.get(name)) is type(value)
    }
    return replace(default, **values)
