"""The bundled embedding model: all-MiniLM-L6-v2 as int8 ONNX, run on the CPU by onnxruntime.

onnxruntime, tokenizers and numpy are imported when the model is first used: they cost 0.2 s and
40 MB, and kmem works without them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kmem_desktop.errors import ProviderError, ProviderUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
LIBRARIES = ("onnxruntime", "tokenizers", "numpy")

MAX_WORD_PIECES = 256  # the model was trained on no more
MAX_CHARACTERS = 32 * MAX_WORD_PIECES  # what follows cannot count, so it is not even tokenised
MAX_BATCH_WORD_PIECES = 256  # 1,024 cost a quarter of the speed and 45 MB more (2 MB of L2 cache)
ONLY_ERRORS = 3  # onnxruntime's log goes to stderr


class _Loaded(NamedTuple):
    session: Any  # an onnxruntime.InferenceSession; onnxruntime has no types
    tokenizer: Tokenizer


class EmbeddedModel:
    """Turns texts into vectors without a server or network.

    It loads on first use. Every method may be called from any thread; `embed` blocks, so it belongs
    into a worker. The vector of a text does not depend on the texts beside it.

    Args:
        folder: Where model.onnx and tokenizer.json are.
        threads: How many cores one call may use.
    """

    name = "all-minilm-l6-v2-int8"
    dimension = 384

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._failure = ""

    def is_loaded(self) -> bool:
        """Return whether the model is in memory."""
        return self._loaded is not None

    def is_available(self) -> bool:
        """Return whether the files and libraries are there and have not failed to load."""
        return not self._failure and not self._missing()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the texts' vectors: float32, shape (len(texts), 384), L2-normalised.

        Of each text the first 256 word pieces count. An empty text has a vector too.

        Raises:
            ProviderUnavailableError: A file or library is missing or cannot be loaded.
            ProviderError: The model failed while running.
        """
        session, tokenizer = self._load()
        import numpy as np

        vectors = np.empty((len(texts), self.dimension), np.float32)
        # One by one: encode_batch would start a thread for each core, and gains little here.
        pieces = [tokenizer.encode(_readable(text)).ids for text in texts]
        for batch in _batches(pieces):
            ids = np.zeros((len(batch), len(pieces[batch[-1]])), np.int64)
            mask = np.zeros_like(ids)
            for row, index in enumerate(batch):
                ids[row, : len(pieces[index])] = pieces[index]
                mask[row, : len(pieces[index])] = 1
            try:
                (found,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
            except Exception as error:
                raise ProviderError("The bundled embedding model failed.") from error
            vectors[batch] = found
        return vectors

    def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Return the questions' vectors: this model makes no difference."""
        return self.embed(questions)

    def release(self) -> None:
        """Give the memory back; the next `embed` loads the model again."""
        with self._lock:
            was_loaded, self._loaded = self._loaded is not None, None
        if was_loaded:
            _return_free_memory()

    def _missing(self) -> str:
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (self._folder / name).is_file():
                return f"{self._folder / name} is missing"
        for library in LIBRARIES:
            if not _is_installed(library):
                return f"{library} is not installed"
        return ""

    def _load(self) -> _Loaded:
        loaded = self._loaded
        if loaded is not None:
            return loaded
        with self._lock:
            if self._loaded is None:
                if reason := self._failure or self._missing():
                    raise _unavailable(reason)
                try:
                    self._loaded = _open(self._folder, self._threads)
                except Exception as error:
                    # Such as a Windows without the C++ runtime; trying again would cost each time.
                    self._failure = str(error) or type(error).__name__
                    raise _unavailable(self._failure) from error
            return self._loaded


def _open(folder: Path, threads: int) -> _Loaded:
    # First, for the reason that search/matrix.py tells.
    import numpy  # noqa: F401
    import onnxruntime
    from tokenizers import Tokenizer

    onnxruntime.disable_telemetry_events()  # the builds for Windows report to Microsoft
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # an arena never shrinks
    options.log_severity_level = ONLY_ERRORS
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    # The published file cuts at 128 and pads to 128.
    tokenizer.enable_truncation(MAX_WORD_PIECES)
    tokenizer.no_padding()
    _return_free_memory()  # of the file's content, which the session has copied
    return _Loaded(session, tokenizer)


def _batches(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the indexes of texts of about the same length, the longest of a batch last."""
    batch: list[int] = []
    for index in sorted(range(len(pieces)), key=lambda index: len(pieces[index])):
        if batch and (len(batch) + 1) * len(pieces[index]) > MAX_BATCH_WORD_PIECES:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _readable(text: str) -> str:
    """Return the part that can count, with a question mark for each lone surrogate."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except (ImportError, ValueError):
        return False


def _unavailable(reason: str) -> ProviderUnavailableError:
    return ProviderUnavailableError(
        f"The bundled embedding model cannot be used: {reason}.",
        hint="Search goes on by words alone; installing kmem again brings the model back.",
    )


def _return_free_memory() -> None:
    """Ask the C library to hand freed memory to the system; glibc alone keeps it."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
