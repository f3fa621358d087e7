from typing import TYPE_CHECKING

import numpy as np
import pytest

from kmem_desktop.search.matrix import INT8_SCALE, VectorMatrix, fitting_scale

if TYPE_CHECKING:
    from numpy.typing import NDArray


def normalised(dimension: int, count: int = 500) -> "NDArray[np.float32]":
    """Return random directions."""
    made = np.random.default_rng(1).standard_normal((count, dimension))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def test_the_scale_of_a_model_like_the_bundled_one_is_what_was_measured_for_it() -> None:
    assert fitting_scale(normalised(384)) == pytest.approx(INT8_SCALE, rel=0.001)


@pytest.mark.parametrize("dimension", [64, 384, 1024])
def test_the_closest_are_found_at_any_dimension(dimension: int) -> None:
    vectors = normalised(dimension)
    matrix = VectorMatrix(dimension, fitting_scale(vectors))
    matrix.put(enumerate(matrix.packed(vectors)))
    for question in normalised(dimension, 5):
        ids, cosines = matrix.nearest(question, 10)
        exact = vectors @ question
        assert len(set(ids.tolist()) & set(np.argsort(-exact)[:10].tolist())) >= 9
        assert cosines == pytest.approx(exact[ids], abs=0.02)
        assert matrix.rows(ids.tolist()) @ question == pytest.approx(exact[ids], abs=0.02)


def test_large_components_are_not_cut_where_they_are_usual() -> None:
    vectors = np.eye(8, dtype=np.float32)
    matrix = VectorMatrix(8, fitting_scale(vectors))
    matrix.put(enumerate(matrix.packed(vectors)))
    ids, cosines = matrix.nearest(vectors[3], 1)
    assert (ids.tolist(), cosines.tolist()) == ([3], pytest.approx([1.0], abs=0.02))
