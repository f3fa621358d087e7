"""Hears of changed files, by watchfiles: the system's own notices, on all three systems."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from pathlib import Path

DEBOUNCE_MS = 400
"""Editors write a file in several steps; so long after the last one it is looked at."""
STEP_MS = 100


async def changed_files(
    folders: Iterable[Path], quiet_s: float, *, is_deep: bool = False
) -> AsyncGenerator[set[Path], None]:
    """Yield the files that changed in these folders, and an empty set now and then.

    Args:
        folders: They must exist.
        quiet_s: After so long without a change an empty set is yielded.
        is_deep: Whether what lies deeper than directly in them is watched too.
    """
    from watchfiles import awatch

    notices = awatch(
        *folders,
        recursive=is_deep,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        rust_timeout=int(quiet_s * 1000),
        yield_on_timeout=True,
        watch_filter=None,
    )
    async with aclosing(notices):
        async for changes in notices:
            yield {Path(path) for _, path in changes}
