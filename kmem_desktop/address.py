"""Where the resident of a database listens: one local socket for each database and user.

The start of `kmem mcp` waits for this module, so it imports small modules only.
"""

from __future__ import annotations

import os
import stat
import sys

MAX_PATH_BYTES = 100
"""The longest socket path: macOS ends at 104 bytes, Linux at 108, and some room is kept."""


def chosen_database(argument: str | None) -> str | None:
    """Tell which database is meant, the same way in every program of kmem.

    MCP clients start their servers with a handful of variables only, so the default is where the
    home folder alone leads to. Whoever sets XDG_DATA_HOME has a database with a name of its own.

    Args:
        argument: the value of `--db`; without one the variable `KMEM_DB` counts.

    Returns:
        The absolute path with its links resolved, or None for the default database.
    """
    path = argument or os.environ.get("KMEM_DB") or _database_of_xdg()
    if not path:
        return None
    database = os.path.realpath(os.path.expanduser(path))
    return None if database == os.path.realpath(default_database()) else database


def default_database() -> str:
    """Return the path of the database that is used when none is named."""
    folder = "~/.local/share/kmem"
    if sys.platform == "darwin":
        folder = "~/Library/Application Support/kmem"
    elif sys.platform == "win32":
        folder = os.path.join(os.environ.get("LOCALAPPDATA", "~/AppData/Local"), "kmem")
    return os.path.join(os.path.expanduser(folder), "kmem.db")


def _database_of_xdg() -> str:
    folder = os.environ.get("XDG_DATA_HOME", "")
    if sys.platform in ("win32", "darwin") or not os.path.isabs(folder):
        return ""
    return os.path.join(folder, "kmem", "kmem.db")


def socket_directory() -> str:
    """Name the folder of the sockets.

    MCP clients start their servers with a handful of variables only. A path which is built from
    others (XDG_RUNTIME_DIR) would differ between the tray and the bridge, so none is used.
    """
    path = "~/.local/state/kmem"
    if sys.platform == "darwin":
        path = "~/Library/Application Support/kmem/s"
    elif sys.platform != "win32":
        runtime = f"/run/user/{os.getuid()}"
        if _is_ours(runtime):
            path = f"{runtime}/kmem"
    return os.path.expanduser(path)


def socket_address(database: str | None) -> str:
    """Name the socket at which the resident of a database listens.

    Args:
        database: a path as `chosen_database` returns it, None for the default database.

    Returns:
        The path of a Unix socket, or the bare name of a pipe on Windows. QLocalServer listens at
        either as it is.

    Raises:
        ValueError: the path is longer than a Unix socket's may be.
    """
    name = _digest(os.path.realpath(database)) if database else "default"
    if sys.platform == "win32":
        # Asked from the system: clients strip USERDOMAIN and may strip USERNAME.
        return f"kmem-{_digest(os.getlogin().lower())}-{name}"
    path = f"{socket_directory()}/{name}.sock"
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise ValueError(
            f"The path of kmem's socket is too long for this system: {path} has more than "
            f"{MAX_PATH_BYTES} bytes. Please set HOME to a shorter path."
        )
    return path


def prepare_socket_directory() -> str:
    """Create the folder of the sockets for its owner alone, and return its path.

    Raises:
        OSError: it cannot be created, or belongs to somebody else.
    """
    path = socket_directory()
    if sys.platform == "win32":
        return path  # pipes live in no folder
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not _is_ours(path):
            raise PermissionError(
                f"kmem does not use {path}: it is not a folder of yours. Please remove it."
            ) from None
        os.chmod(path, 0o700)
    return path


def _is_ours(path: str) -> bool:
    """Whether a path is a folder, no link to one, which belongs to this user."""
    if sys.platform == "win32":
        return True
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _digest(text: str) -> str:
    # Imported here: the default database, which is nearly every start, needs no digest.
    import hashlib

    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]
