"""Rows of models and vectors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kmem_desktop.domain.changes import Noun
from kmem_desktop.store import documents, vectors
from kmem_desktop.store.connection import Connection
from tests.store.databases import NOW, add, fresh

DIMENSION = 4


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with fresh(tmp_path / "kmem.db") as opened:
        yield opened


def put_all(connection: Connection, model: int, mark: bytes = b"abcd") -> list[int]:
    """Give each text that waits for one a vector."""
    rows = vectors.pending(connection, model, 0, 100)
    return vectors.put(connection, model, [(row.id, row.text_hash, mark) for row in rows])


def test_a_model_has_one_number_and_no_scale_at_first(connection: Connection) -> None:
    number = vectors.model_id(connection, "a", DIMENSION)
    assert vectors.model_id(connection, "a", DIMENSION) == number
    assert vectors.model_id(connection, "b", DIMENSION) != number
    assert vectors.model_named(connection, "a") == vectors.EmbeddingModel(
        number, "a", DIMENSION, None, is_serving=False
    )
    assert vectors.model_named(connection, "c") is None


def test_the_first_scale_counts(connection: Connection) -> None:
    number = vectors.model_id(connection, "a", DIMENSION)
    assert vectors.set_scale(connection, number, 100.0) == 100.0
    assert vectors.set_scale(connection, number, 200.0) == 100.0


def test_a_model_of_another_dimension_starts_anew(connection: Connection) -> None:
    add(connection, "A title", "a body")
    number = vectors.model_id(connection, "a", DIMENSION)
    assert len(put_all(connection, number)) == 1
    new = vectors.model_id(connection, "a", 2 * DIMENSION)
    assert vectors.count_pending(connection, new) == 1
    assert connection.execute("SELECT count(*) FROM vectors").get == 0


def test_one_model_serves_at_a_time(connection: Connection) -> None:
    assert vectors.serving_model(connection) is None
    for name in ("a", "b", "a"):
        vectors.serve(connection, vectors.model_id(connection, name, DIMENSION))
        serving = vectors.serving_model(connection)
        assert serving is not None
        assert serving.name == name
    assert connection.execute("SELECT sum(is_serving) FROM embedding_models").get == 1


def test_texts_wait_for_each_model_of_their_own(connection: Connection) -> None:
    ids = [add(connection, f"Title {n}", f"body {n}") for n in range(5)]
    first, second = (vectors.model_id(connection, name, DIMENSION) for name in "ab")
    assert put_all(connection, first) == ids
    assert vectors.count_pending(connection, first) == 0
    assert vectors.count_pending(connection, second) == 5
    assert vectors.count_pending_after(connection, second, ids[2]) == 2
    assert [row.id for row in vectors.pending(connection, second, ids[1], 2)] == ids[2:4]
    assert vectors.ids(connection, first) == ids
    assert vectors.of_documents(connection, first, [ids[3], 99]) == [(ids[3], b"abcd")]
    assert vectors.newest_id(connection) == ids[-1]


def test_a_text_that_changed_meanwhile_gets_no_vector(connection: Connection) -> None:
    number = add(connection, "A title", "a body")
    model = vectors.model_id(connection, "a", DIMENSION)
    stale = documents.text_hash("A title", "another body")
    assert vectors.put(connection, model, [(number, stale, b"abcd"), (99, stale, b"abcd")]) == []
    assert vectors.count_pending(connection, model) == 1


def test_a_model_that_another_process_removed_gets_no_vector(connection: Connection) -> None:
    add(connection, "A title", "a body")
    assert put_all(connection, 4711) == []


def test_models_that_nobody_needs_are_removed_in_steps(connection: Connection) -> None:
    for number in range(5):
        add(connection, f"Title {number}", "a body")
    for name in ("serving", "wanted", "old"):
        model = vectors.model_id(connection, name, DIMENSION)
        put_all(connection, model)
    serving = vectors.model_id(connection, "serving", DIMENSION)
    vectors.serve(connection, serving)
    assert vectors.has_others(connection, {"wanted"})
    steps = 0
    while vectors.drop_some(connection, {"wanted"}, 2):
        steps += 1
    assert steps == 3
    assert not vectors.has_others(connection, {"wanted"})
    assert vectors.model_named(connection, "old") is None
    assert connection.execute("SELECT count(*) FROM vectors").get == 10


def test_a_vector_is_made_of_the_title_and_the_body(connection: Connection) -> None:
    model = vectors.model_id(connection, "a", DIMENSION)
    for noun in (Noun.KNOWLEDGE, Noun.OBSERVATION, Noun.TURN):
        body = "b" * 9_000 if noun is Noun.TURN else "body"
        documents.insert(connection, documents.Document(noun, "Title", body, "test"), NOW)
    texts = [row.text for row in vectors.pending(connection, model, 0, 100)]
    assert texts == ["Title. body", "Title: body", "b" * 8_000]
