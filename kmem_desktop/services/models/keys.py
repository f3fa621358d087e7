"""Keys of those who serve models: in the system's keychain, or in memory until kmem ends.

A key is never written to the database, the settings, the log or a client's configuration, and no
error repeats it.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TypeVar

from kmem_desktop.domain.models import KeyPlace
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.platforms.keychain import Keychain
from kmem_desktop.providers.http.catalogue import Known

T = TypeVar("T")

LONGEST_KEY = 1_000
KEYCHAIN_PATIENCE_S = 60.0
"""A person may have to unlock it."""


class KeyService:
    """Keeps the keys."""

    def __init__(
        self, keychain: Keychain | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Keep keys in a keychain.

        Args:
            keychain: The system's, or another one.
            environment: Where a variable may hold a key for this run.
        """
        self._keychain = keychain or Keychain()
        self._environment = os.environ if environment is None else environment
        self._this_run: dict[str, str] = {}
        self._read: dict[str, str] = {}
        self._has_keychain: bool | None = None

    async def set(self, known: Known, key: str) -> KeyPlace:
        """Keep a key; without a keychain until kmem ends.

        Returns:
            Where it is kept now.

        Raises:
            InvalidInputError: That is no key.
        """
        key = key.strip()
        if not _is_key(key):
            raise InvalidInputError(
                "That is no key.", hint="A key has no spaces, and at most 1,000 letters and signs."
            )
        entry = _entry(known)
        self._drop(entry)
        if await _patiently(KEYCHAIN_PATIENCE_S, self._keychain.write, entry, key):
            self._read[entry] = key
            return KeyPlace.KEYCHAIN
        self._this_run[entry] = key
        return KeyPlace.THIS_RUN

    async def forget(self, known: Known) -> None:
        """Forget a key.

        Raises:
            KmemError: The keychain keeps it.
        """
        self._drop(_entry(known))
        await asyncio.to_thread(self._keychain.remove, _entry(known))

    async def get(self, known: Known, *, patience_s: float = KEYCHAIN_PATIENCE_S) -> str:
        """Return a key; empty where there is none, or the keychain does not open in time."""
        return (await self._found(known, patience_s))[1]

    async def place(self, known: Known) -> KeyPlace:
        """Return where a key is."""
        return (await self._found(known, KEYCHAIN_PATIENCE_S))[0]

    async def has_keychain(self) -> bool:
        """Return whether there is a keychain that can be used."""
        if self._has_keychain is None:
            self._has_keychain = bool(await asyncio.to_thread(self._keychain.name))
        return self._has_keychain

    def place_at_hand(self, known: Known) -> KeyPlace:
        """Return where a key is, as far as that is known without the keychain being opened."""
        return self._at_hand(known)[0]

    async def _found(self, known: Known, patience_s: float) -> tuple[KeyPlace, str]:
        place, key = self._at_hand(known)
        if place is KeyPlace.NOWHERE and known.key_variable:
            kept = await _patiently(patience_s, self._keychain.read, _entry(known)) or ""
            if _is_key(kept):
                self._read[_entry(known)] = kept
                return KeyPlace.KEYCHAIN, kept
        return place, key

    def _at_hand(self, known: Known) -> tuple[KeyPlace, str]:
        entry = _entry(known)
        if not known.key_variable:
            return KeyPlace.NOWHERE, ""
        if entry in self._this_run:
            return KeyPlace.THIS_RUN, self._this_run[entry]
        variable = self._environment.get(known.key_variable, "").strip()
        if _is_key(variable):
            return KeyPlace.ENVIRONMENT, variable
        if entry in self._read:
            return KeyPlace.KEYCHAIN, self._read[entry]
        return KeyPlace.NOWHERE, ""

    def _drop(self, entry: str) -> None:
        self._this_run.pop(entry, None)
        self._read.pop(entry, None)


async def _patiently(patience_s: float, work: Callable[..., T], *arguments: str) -> T | None:
    """Wait for the keychain, but not for ever: its question to a person may be overlooked."""
    try:
        async with asyncio.timeout(patience_s):
            return await asyncio.to_thread(work, *arguments)
    except TimeoutError:
        return None


def _entry(known: Known) -> str:
    """Return the entry's name: with the host, so that a key never goes to another one."""
    return f"{known.id}@{known.host or known.address}"


def _is_key(text: str) -> bool:
    return (
        0 < len(text) <= LONGEST_KEY and text.isascii() and text.isprintable() and " " not in text
    )
