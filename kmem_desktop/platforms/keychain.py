"""The system's own place for secrets, by keyring; the only module that knows it.

Only the keychains of the systems themselves are used: keyring also takes whatever is installed,
such as a plain file, or a backend that throws everything away and says that it worked.
"""

import logging
from typing import TYPE_CHECKING, Any

from kmem_desktop.errors import KmemError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

log = logging.getLogger(__name__)

SERVICE = "kmem"

TRUSTED = frozenset(
    {
        "keyring.backends.Windows.WinVaultKeyring",
        "keyring.backends.macOS.Keyring",
        "keyring.backends.SecretService.Keyring",
        "keyring.backends.libsecret.Keyring",
        "keyring.backends.kwallet.DBusKeyring",
        "keyring.backends.kwallet.DBusKeyringKWallet4",
    }
)


class Keychain:
    """The user's keychain; every method blocks, perhaps until a person has unlocked it."""

    def __init__(self, trusted: frozenset[str] = TRUSTED) -> None:
        """Use the first backend whose class is one of `trusted`."""
        self._trusted = trusted

    def name(self) -> str:
        """Return what the keychain is called; empty where there is none."""
        backend = self._backend()
        return str(backend.name) if backend is not None else ""

    def read(self, name: str) -> str:
        """Return a secret; empty where there is none, or nobody may read it."""
        backend = self._backend()
        if backend is None:
            return ""
        try:
            return backend.get_password(SERVICE, name) or ""
        except Exception:  # noqa: BLE001 - each backend has exceptions of its own
            log.info("The keychain did not give the key of %s", name)
            return ""

    def write(self, name: str, secret: str) -> bool:
        """Keep a secret, and read it back; return whether it is really there."""
        backend = self._backend()
        if backend is None:
            return False
        try:
            backend.set_password(SERVICE, name, secret)
            is_kept = backend.get_password(SERVICE, name) == secret
        except Exception:  # noqa: BLE001 - as above
            is_kept = False
        if not is_kept:
            log.info("The keychain did not keep the key of %s", name)
        return is_kept

    def remove(self, name: str) -> None:
        """Forget a secret.

        Raises:
            KmemError: It is still there.
        """
        backend = self._backend()
        if backend is None:
            return
        try:
            if backend.get_password(SERVICE, name) is not None:
                backend.delete_password(SERVICE, name)
        except Exception as error:
            raise KmemError(
                "The keychain did not let go of the key.",
                hint="Remove the entry named kmem in the system's keychain program.",
            ) from error

    def _backend(self) -> "KeyringBackend | None":
        import keyring

        try:
            return self._first_trusted(keyring.get_keyring())
        except Exception:  # noqa: BLE001 - a backend named in keyring's own settings may be anything
            log.info("There is no keychain that can be used")
            return None

    def _first_trusted(self, backend: "KeyringBackend") -> "KeyringBackend | None":
        if _class_name(backend) in self._trusted:
            return backend
        # Where several work, keyring puts a chain before them, which would ask untrusted ones too.
        for each in getattr(backend, "backends", ()):
            if _class_name(each) in self._trusted:
                trusted: KeyringBackend = each
                return trusted
        return None


def _class_name(backend: Any) -> str:
    return f"{type(backend).__module__}.{type(backend).__qualname__}"
