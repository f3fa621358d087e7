"""The log file: what kmem did, never what it remembers."""

import logging
import logging.handlers
from pathlib import Path

LARGEST_LOG_BYTES = 1024 * 1024
OLD_LOG_COUNT = 2


def log_to_file(path: Path, *, also_to_stderr: bool = False) -> None:
    """Write the log of this process to `path`, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    handlers: list[logging.Handler] = [
        logging.handlers.RotatingFileHandler(
            path, maxBytes=LARGEST_LOG_BYTES, backupCount=OLD_LOG_COUNT, encoding="utf-8"
        )
    ]
    if also_to_stderr:
        handlers.append(logging.StreamHandler())
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=handlers,
        force=True,
    )
    # The SDK tells each request at this level: too much, and it names what was asked.
    logging.getLogger("mcp").setLevel(logging.WARNING)
