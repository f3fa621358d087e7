"""Exports as they are downloaded: a zip file with JSON in it, or the JSON file itself.

Nothing is unpacked to the disk, so the names in a zip file are never paths; they are only compared.
What unpacks to far more than any export has is given up.
"""

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, cast

from kmem_desktop.errors import FormatError

LARGEST_BYTES = 4 * 1024**3
"""Of one file in an archive, unpacked."""
LARGEST_RATIO = 200
"""Text packs by a factor of 3 to 20; what packs by more was made to do harm."""
_HARMLESS_BYTES = 16 * 1024**2
_BUFFER_BYTES = 256 * 1024
_ZIP_SIGNATURE = b"PK"
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    EOFError,
    OSError,
)
"""What unpacking raises where an archive is damaged, locked or packed in an unknown way."""
_CONVERSATIONS = re.compile(r"(?:^|[/\\])conversations(?:[-_]\d{1,5})?\.json$")


def conversation_files(file: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the files of an export that hold its conversations, open for reading.

    Args:
        file: The export, zip or JSON, open for reading in binary, seekable.

    Raises:
        FormatError: The archive is damaged, holds no conversations, or is made to do harm.
    """
    file.seek(0)
    is_zip = file.read(2) == _ZIP_SIGNATURE
    file.seek(0)
    if not is_zip:
        yield file
        return
    try:
        with zipfile.ZipFile(file) as archive:
            members = [m for m in archive.infolist() if _CONVERSATIONS.search(m.filename)]
            if not members:
                raise FormatError("There is no conversations.json in this archive.")
            for member in sorted(members, key=lambda member: member.filename):
                with archive.open(member) as packed:
                    limited = _Limited(packed, member.compress_size)
                    yield cast("BinaryIO", io.BufferedReader(limited, _BUFFER_BYTES))
    except _DAMAGES as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> FormatError:
    reason = str(error).rstrip(".") or "it is cut off"
    return FormatError(f"The archive cannot be read: {reason}.")


class _Limited(io.RawIOBase):
    """A packed file that ends with an error where it unpacks to too much."""

    def __init__(self, packed: IO[bytes], packed_bytes: int) -> None:
        super().__init__()
        self._packed = packed
        self._left = min(LARGEST_BYTES, max(_HARMLESS_BYTES, packed_bytes * LARGEST_RATIO))

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        try:
            data = self._packed.read(len(buffer))
        except _DAMAGES as error:
            raise _unreadable(error) from error
        self._left -= len(data)
        if self._left < 0:
            raise FormatError("The archive unpacks to far more than an export holds.")
        buffer[: len(data)] = data
        return len(data)
