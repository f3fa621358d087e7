"""The bundled embedding model itself: resources/embedding is part of the program."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from shutil import copy

import numpy as np
import pytest

from kmem_desktop.errors import ProviderUnavailableError
from kmem_desktop.providers.embedded import MODEL_FILE, TOKENIZER_FILE, EmbeddedModel

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "embedding"

TEXTS = [
    "The cat sleeps on the warm window sill.",
    "A kitten naps by the window.",
    "The dog waits at the door for its walk.",
    "SELECT name FROM users WHERE id = ?",
    "We keep one SQLite file and a single writer.",
    "",
    "où était la réunion? 会議はどこでしたか 🙂",
    "word " * 120,
]


@pytest.fixture(scope="module")
def model():
    return EmbeddedModel(FOLDER)


def test_vectors_have_the_promised_shape_and_length_one(model):
    vectors = model.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), EmbeddedModel.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_the_vector_of_the_published_example_is_the_published_one(model):
    (vector,) = model.embed(["This is an example sentence"])
    assert vector[:3] == pytest.approx([0.0676569, 0.0634959, 0.0487131], abs=0.01)


def test_what_is_alike_lies_close(model):
    cat, kitten, dog, sql, *_ = model.embed(TEXTS)
    assert cat @ kitten > cat @ dog > cat @ sql
    question, answer, other = model.embed(
        [
            "Which database do we use?",
            "We keep one SQLite file and a single writer.",
            "The meeting is on Tuesday.",
        ]
    )
    assert question @ answer > question @ other + 0.1


def test_a_vector_does_not_depend_on_the_texts_beside_it(model):
    together = model.embed(TEXTS)
    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    assert (together * alone).sum(axis=1) == pytest.approx(1, abs=1e-3)


def test_the_same_texts_give_the_same_bytes_again(model):
    assert model.embed(TEXTS).tobytes() == model.embed(TEXTS).tobytes()


def test_no_texts_give_no_vectors(model):
    assert model.embed([]).shape == (0, EmbeddedModel.dimension)


def test_only_the_first_256_word_pieces_count(model):
    start = "apple " * 254  # and a piece each for beginning and end
    long, longer, shorter = model.embed([start, start + "tax law " * 1200, start[: 6 * 100]])
    assert long @ longer == pytest.approx(1, abs=1e-5)
    assert long @ shorter < 0.9999


def test_text_that_is_no_unicode_has_a_vector(model):
    broken, mended, nul = model.embed(
        ["half \ud83d a smile", "half ? a smile", "\0\ufffe\U0010ffff"]
    )
    assert broken @ mended == pytest.approx(1, abs=1e-5)
    assert np.isfinite(nul).all()


def test_a_megabyte_on_one_line_is_quick_because_its_end_is_not_read(model):
    vectors = model.embed(["x" * 1_000_000, "lorem ipsum " * 90_000])
    assert np.isfinite(vectors).all()


def test_release_gives_the_model_back_and_the_next_use_loads_it_again():
    model = EmbeddedModel(FOLDER)
    assert not model.is_loaded()
    model.release()
    before = model.embed(TEXTS)
    assert model.is_loaded()
    model.release()
    assert not model.is_loaded()
    assert model.embed(TEXTS).tobytes() == before.tobytes()


def test_threads_share_one_model_even_while_it_is_released():
    model = EmbeddedModel(FOLDER)
    expected = EmbeddedModel(FOLDER).embed(TEXTS)

    def embed_or_release(number):
        if number % 5 == 4:
            model.release()
            return expected
        return model.embed(TEXTS)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(embed_or_release, range(20), timeout=60))
    assert all(np.allclose(result, expected, atol=1e-3) for result in results)


def test_two_threads_in_one_call_give_the_same_vectors(model):
    vectors = EmbeddedModel(FOLDER, threads=2).embed(TEXTS)
    assert (vectors * model.embed(TEXTS)).sum(axis=1) == pytest.approx(1, abs=1e-3)


def test_it_is_available_here(model):
    assert model.is_available()


def test_without_its_files_it_is_not_available(tmp_path):
    model = EmbeddedModel(tmp_path / "nowhere")
    assert not model.is_available()
    with pytest.raises(ProviderUnavailableError, match=r"model\.onnx is missing"):
        model.embed(["text"])
    assert not model.is_loaded()


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers", "numpy"])
def test_without_a_library_it_is_not_available(missing, monkeypatch):
    monkeypatch.setattr(
        "kmem_desktop.providers.embedded.find_spec",
        lambda name: None if name == missing else find_spec(name),
    )
    model = EmbeddedModel(FOLDER)
    assert not model.is_available()
    with pytest.raises(ProviderUnavailableError, match=f"{missing} is not installed"):
        model.embed(["text"])


@pytest.mark.parametrize("damaged", [MODEL_FILE, TOKENIZER_FILE])
def test_a_damaged_file_is_told_once_and_remembered(damaged, tmp_path):
    for name in {MODEL_FILE, TOKENIZER_FILE} - {damaged}:
        copy(FOLDER / name, tmp_path)
    (tmp_path / damaged).write_bytes(b"\x00 nothing of the kind")
    model = EmbeddedModel(tmp_path)
    assert model.is_available()
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError):
            model.embed(["text"])
        assert not model.is_available()


def test_importing_the_module_loads_no_library():
    program = (
        "import sys, kmem_desktop.providers.embedded;"
        "sys.exit(bool({'numpy', 'onnxruntime', 'tokenizers', 'ctypes'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0


def test_loading_and_embedding_write_nothing_to_the_console(capfd):
    model = EmbeddedModel(FOLDER)
    model.embed(["text"])
    model.release()
    assert capfd.readouterr() == ("", "")
