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

    Args:
        argument: the value of `--db`; without one the variable `KMEM_DB` counts.

    Returns:
        The absolute path with its links resolved, or None for the default database.
    """
    path = argument or os.environ.get("KMEM_DB")
    return os.path.realpath(os.path.expanduser(path)) if path else None


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
