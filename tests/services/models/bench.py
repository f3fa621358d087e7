"""A model service on servers, programs and a keychain of the test's own."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kmem_desktop.bootstrap import Services
from kmem_desktop.platforms.keychain import Keychain
from kmem_desktop.platforms.model_programs import ModelPrograms
from kmem_desktop.providers.http.catalogue import KNOWN, Known
from kmem_desktop.providers.http.chain import RetryPolicy
from kmem_desktop.services.models.choices import ModelChoices
from kmem_desktop.services.models.keys import KeyService
from kmem_desktop.services.models.service import ModelService
from kmem_desktop.store.database import Database
from tests.platforms.described import Described, linux

LONG_S = 10.0
QUICK = RetryPolicy(attempts=2, wait_initial_s=0.001, wait_max_s=0.002, wait_jitter_s=0.001)
PLANTED = "sk-planted-0123456789abcdef"


class MemoryKeychain(Keychain):
    """A keychain in memory, or none at all."""

    def __init__(self, *, works: bool = True) -> None:
        super().__init__()
        self.works = works
        self.kept: dict[str, str] = {}

    def read(self, name: str) -> str:
        return self.kept.get(name, "")

    def write(self, name: str, secret: str) -> bool:
        if self.works:
            self.kept[name] = secret
        return self.works

    def remove(self, name: str) -> None:
        self.kept.pop(name, None)


@dataclass(frozen=True)
class Far(Known):
    """Somebody at another host, as far as kmem can tell; the test's server plays him."""

    @property
    def host(self) -> str:
        return "api.far.example"


def near(name: str, address: str) -> Known:
    """Return one of those that kmem knows, at an address of the test."""
    return replace(next(each for each in KNOWN if each.id == name), address=address)


def far(address: str, name: str = "far") -> Known:
    """Return somebody at another host, played by a server of the test."""
    return Far(name, "Far", address, key_variable="KMEM_FAR_KEY")


@asynccontextmanager
async def models(
    folder: Path,
    *known: Known,
    system: Described | None = None,
    keychain: MemoryKeychain | None = None,
    environment: dict[str, str] | None = None,
) -> AsyncIterator[ModelService]:
    """Open a model service that knows these only."""

    def servers(own: dict[str, str]) -> Sequence[Known]:
        return (*known, *(Known(name, name, address) for name, address in own.items()))

    settings = folder / "settings.json"
    async with Database.opened(folder / "kmem.db") as database:
        service = ModelService(
            database,
            settings,
            programs=ModelPrograms(system or linux()),
            keys=KeyService(keychain or MemoryKeychain(), environment or {}),
            choices=ModelChoices(settings, servers),  # type: ignore[arg-type]
            policy=QUICK,
        )
        try:
            yield service
        finally:
            await service.stop()


def rig(
    services: Services,
    known: Sequence[Known],
    *,
    system: Described | None = None,
    keychain: MemoryKeychain | None = None,
) -> None:
    """Let the model service know these servers, programs and this keychain only."""

    def servers(own: Mapping[str, str]) -> tuple[Known, ...]:
        added = [Known(name, name, url, key_variable="K") for name, url in own.items()]
        return (*known, *added)

    models = services.models
    models._choices._servers = servers
    models._programs = ModelPrograms(system or linux())
    models.keys = KeyService(keychain or MemoryKeychain(), {})
    models._servers._keys = models.keys
