"""Which of several models suits a purpose best.

References:
    Seed 001, `selectBestModel`: small, fast models by name; extended by what a server tells of
    its models: size, context length, what they can do, how they are stored, which are loaded.
"""

import re
from collections.abc import Iterable

from kmem_desktop.domain.models import ModelInfo, ModelKind, Purpose

SMALL_CHAT_MODELS = ("llama3.2:3b", "llama3.2:1b", "phi3:mini", "gemma2:2b", "qwen2.5:3b")
EMBEDDING_MODELS = ("nomic-embed-text", "mxbai-embed-large", "all-minilm")

LARGEST_FAST = 4_500_000_000
"""Parameters; a larger model does not answer within the time that detection has."""
LARGEST_SENSIBLE = 15_000_000_000
SMALLEST_SENSIBLE = 1_000_000_000
SHORTEST_CONTEXT = 2_048
LARGEST_BYTES_UNKNOWN = 10_000_000_000

_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)
_COARSE = ("q2", "iq1", "iq2", "q3", "2bit", "3bit")


def best_model(models: Iterable[ModelInfo], purpose: Purpose) -> ModelInfo | None:
    """Return the model that suits a purpose best; None where none can do it."""
    ranked = ranked_models(models, purpose)
    return ranked[0] if ranked else None


def ranked_models(models: Iterable[ModelInfo], purpose: Purpose) -> list[ModelInfo]:
    """Return the models that can serve a purpose, best first."""
    able = [model for model in models if can_serve(model, purpose)]
    return sorted(able, key=lambda model: _rank(model, purpose))


def can_serve(model: ModelInfo, purpose: Purpose) -> bool:
    """Return whether a model can do what a purpose needs, as far as is known."""
    if purpose is Purpose.EMBEDDINGS:
        return model.kind is ModelKind.EMBEDDING
    is_too_short = 0 < model.context_tokens < SHORTEST_CONTEXT
    return model.kind is ModelKind.CHAT and not is_too_short


def parameters_of(model: ModelInfo) -> int:
    """Return how large a model is, if need be by its name; 0 where nothing tells."""
    if model.parameter_count:
        return model.parameter_count
    sizes = [
        float(number) * (10**9 if unit.lower() == "b" else 10**6)
        for number, unit in _SIZE.findall(model.name)
    ]
    return int(max(sizes, default=0))


def _rank(model: ModelInfo, purpose: Purpose) -> tuple[float | str, ...]:
    if purpose is Purpose.EMBEDDINGS:
        return (not model.is_loaded, _place(model, EMBEDDING_MODELS), model.name)
    size = parameters_of(model)
    if purpose is Purpose.DETECTION:
        is_slow = size > LARGEST_FAST or model.size_bytes > LARGEST_BYTES_UNKNOWN
        return (
            is_slow,
            not model.is_loaded,
            _place(model, SMALL_CHAT_MODELS),
            _is_coarse(model),
            size or LARGEST_FAST,
            model.name,
        )
    is_fitting = SMALLEST_SENSIBLE <= size <= LARGEST_SENSIBLE
    return (
        not model.is_loaded,
        not is_fitting,
        _is_coarse(model),
        -size if is_fitting else size,
        _place(model, SMALL_CHAT_MODELS),
        model.name,
    )


def _place(model: ModelInfo, preferences: tuple[str, ...]) -> int:
    """Return where a model stands in a list of names."""
    name = model.name.lower()
    places = [place for place, preferred in enumerate(preferences) if preferred in name]
    return min(places, default=len(preferences))


def _is_coarse(model: ModelInfo) -> bool:
    """Return whether so little is left of the weights that answers suffer."""
    return model.quantisation.lower().startswith(_COARSE)
