"""Which model is taken of those that are there."""

import pytest

from kmem_desktop.domain.models import ModelInfo, ModelKind, Purpose
from kmem_desktop.providers.http.choosing import best_model, parameters_of, ranked_models

CHAT, EMBEDDING = ModelKind.CHAT, ModelKind.EMBEDDING


def chat(name: str, **more: object) -> ModelInfo:
    return ModelInfo(name, CHAT, **more)  # type: ignore[arg-type]


def best(purpose: Purpose, *models: ModelInfo) -> str:
    found = best_model(models, purpose)
    return found.name if found else ""


def test_detection_takes_the_seeds_small_models_in_their_order() -> None:
    names = ["mistral:7b", "qwen2.5:3b", "gemma2:2b", "phi3:mini", "llama3.2:1b", "llama3.2:3b"]
    ranked = [each.name for each in ranked_models(map(chat, names), Purpose.DETECTION)]
    assert ranked == names[::-1]


def test_detection_takes_what_is_loaded_if_it_is_small() -> None:
    loaded = chat("tiny:1.5b", is_loaded=True)
    assert best(Purpose.DETECTION, chat("llama3.2:3b"), loaded) == "tiny:1.5b"
    huge = chat("llama3.3:70b", is_loaded=True)
    assert best(Purpose.DETECTION, chat("llama3.2:3b"), huge) == "llama3.2:3b"


def test_chat_takes_what_is_loaded_then_the_largest_that_fits_a_computer() -> None:
    small, large, huge = chat("a:3b"), chat("b:8b"), chat("c:70b")
    assert best(Purpose.CHAT, small, large, huge) == "b:8b"
    assert best(Purpose.CHAT, chat("a:3b", is_loaded=True), large, huge) == "a:3b"


def test_a_coarse_copy_gives_way_to_a_better_one() -> None:
    coarse, fine = chat("x:8b", quantisation="Q2_K"), chat("y:7b", quantisation="Q4_K_M")
    assert best(Purpose.CHAT, coarse, fine) == "y:7b"


def test_what_reads_too_little_is_not_taken() -> None:
    assert best(Purpose.CHAT, chat("short", context_tokens=512)) == ""
    assert best(Purpose.CHAT, chat("unknown", context_tokens=0)) == "unknown"


def test_an_embedding_model_does_not_chat_and_the_other_way_round() -> None:
    models = [ModelInfo("nomic-embed-text", EMBEDDING), chat("llama3.2:3b")]
    assert best(Purpose.CHAT, *models) == "llama3.2:3b"
    assert best(Purpose.EMBEDDINGS, *models) == "nomic-embed-text"
    assert best(Purpose.EMBEDDINGS, chat("llama3.2:3b"), ModelInfo("x")) == ""


def test_embeddings_take_the_recommended_models_in_order() -> None:
    names = ["zzz-embed", "all-minilm", "mxbai-embed-large", "nomic-embed-text"]
    models = [ModelInfo(name, EMBEDDING) for name in names]
    assert [each.name for each in ranked_models(models, Purpose.EMBEDDINGS)] == names[::-1]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("llama3.2:3b", 3_000_000_000),
        ("Qwen2.5-0.5B-Instruct", 500_000_000),
        ("SmolLM2-135M", 135_000_000),
        ("mixtral-8x7b", 0),
        ("phi3:mini", 0),
        ("abc-4bit", 0),
    ],
)
def test_a_name_tells_the_size_where_the_server_does_not(name: str, size: int) -> None:
    assert parameters_of(chat(name)) == size


def test_nothing_gives_nothing() -> None:
    assert all(best_model([], purpose) is None for purpose in Purpose)
