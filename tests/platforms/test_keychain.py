"""The system's keychain, with backends of every kind of misbehaviour."""

from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked, PasswordDeleteError, PasswordSetError

from kmem_desktop.errors import KmemError
from kmem_desktop.platforms.keychain import TRUSTED, Keychain

SECRET = "sk-planted-0123456789"


class Good(KeyringBackend):
    """Keeps what it is given."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Shortening(Good):
    """Keeps the beginning only."""

    def set_password(self, service: str, username: str, password: str) -> None:
        super().set_password(service, username, password[:5])


class Locked(Good):
    """Does not open."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked(f"locked: {service}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise PasswordSetError("denied")


class Stubborn(Good):
    """Lets nothing go."""

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError("denied")


class Chain(Good):
    """Puts several backends behind one."""

    def __init__(self, *backends: KeyringBackend) -> None:
        super().__init__()
        self.backends = backends


@pytest.fixture(autouse=True)
def _backend_stays() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


def keychain(backend: KeyringBackend, *trusted: type[KeyringBackend]) -> Keychain:
    keyring.set_keyring(backend)
    classes = trusted or (type(backend),)
    return Keychain(frozenset(f"{each.__module__}.{each.__qualname__}" for each in classes))


def test_a_secret_is_kept_read_and_forgotten() -> None:
    chain = keychain(Good())
    assert chain.write("openai", SECRET)
    assert chain.read("openai") == SECRET
    chain.remove("openai")
    chain.remove("openai")
    assert chain.read("openai") == ""
    assert chain.name()


@pytest.mark.parametrize("backend", [fail.Keyring(), null.Keyring(), Good()])
def test_a_backend_that_is_no_systems_keychain_is_not_used(backend: KeyringBackend) -> None:
    keyring.set_keyring(backend)
    chain = Keychain()
    assert chain.name() == ""
    assert not chain.write("openai", SECRET)
    assert chain.read("openai") == ""
    chain.remove("openai")
    assert getattr(backend, "kept", {}) == {}


@pytest.mark.parametrize("backend", [Shortening(), Locked()])
def test_what_does_not_come_back_whole_is_not_kept(
    backend: KeyringBackend, caplog: pytest.LogCaptureFixture
) -> None:
    chain = keychain(backend)
    assert not chain.write("openai", SECRET)
    assert SECRET not in caplog.text


def test_a_locked_keychain_gives_nothing() -> None:
    assert keychain(Locked()).read("openai") == ""


def test_a_keychain_that_lets_nothing_go_is_told() -> None:
    chain = keychain(Stubborn())
    chain.write("openai", SECRET)
    with pytest.raises(KmemError) as caught:
        chain.remove("openai")
    assert SECRET not in repr(caught.value)


def test_of_a_chain_only_the_trusted_one_is_asked() -> None:
    plain, good = Shortening(), Good()
    chain = keychain(Chain(plain, good), Good)
    assert chain.write("openai", SECRET)
    assert plain.kept == {}
    assert list(good.kept.values()) == [SECRET]


def test_a_backend_named_in_the_environment_that_is_not_there_is_no_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "no.such.Backend")
    assert Keychain().name() == ""


def test_the_trusted_ones_are_the_systems_own() -> None:
    assert all(name.startswith("keyring.backends.") for name in TRUSTED)
    assert not any(word in name for name in TRUSTED for word in ("fail", "null", "chainer", "file"))
