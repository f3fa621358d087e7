import numpy as np
import pytest

from kmem_desktop.errors import ProviderError, ProviderUnavailableError
from kmem_desktop.providers.model import vectors_of
from tests.services.embedding_models import WordModel, WrongSizeModel


def test_a_text_that_is_said_twice_is_embedded_once() -> None:
    model = WordModel()
    first, second, third = vectors_of(model, ["thanks", "go on", "thanks"])
    assert model.embedded == ["thanks", "go on"]
    assert np.array_equal(first, third)
    assert not np.array_equal(first, second)


def test_a_refused_text_resembles_nothing_and_the_others_are_as_ever() -> None:
    model = WordModel()
    expected = model.embed(["a harbour", "a meadow"])
    model.refused = "bomb"
    found = vectors_of(model, ["a harbour", "a bomb", "a meadow"])
    assert np.array_equal(found[[0, 2]], expected)
    assert not found[1].any()
    assert not vectors_of(model, ["a bomb"]).any()


def test_a_model_that_refuses_everything_fails() -> None:
    model = WordModel()
    model.refused = "m"
    with pytest.raises(ProviderError, match="not allowed"):
        vectors_of(model, ["meadow"])


def test_a_model_that_is_not_there_is_not_asked_text_by_text() -> None:
    model = WordModel()
    model.is_there = False
    with pytest.raises(ProviderUnavailableError):
        vectors_of(model, ["a harbour", "a meadow"])


def test_vectors_of_another_size_than_announced_are_not_taken() -> None:
    with pytest.raises(ProviderError, match="another size"):
        vectors_of(WrongSizeModel(), ["a harbour"])
