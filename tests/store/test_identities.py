from pathlib import Path

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.graph import Entity
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store.retrieval import identities
from tests.store.databases import NOW, fresh


def test_an_observation_carries_its_entity(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        entity = Entity("worker", "service", ("drains the queue",))
        entity_id, entity_uuid = graph_rows.insert_entity(connection, entity, "Test", NOW)
        (observation_id,) = graph_rows.observations_of(connection, [entity_id])
        observation = identities.of_id(connection, observation_id)
        owner = identities.of_id(connection, entity_id)
    assert observation is not None
    assert owner is not None
    assert (observation.noun, observation.title) == (
        Noun.OBSERVATION,
        "worker: drains the queue",
    )
    assert (observation.owner_id, observation.kind) == (entity_id, "service")
    assert observation.uuid != entity_uuid
    assert (owner.uuid, owner.owner_id, owner.confidence) == (entity_uuid, entity_id, None)


def test_unknown_ids_name_nothing(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        assert identities.of_id(connection, 7) is None
        assert identities.of_uuids(connection, ["no", ""]) == {}
        assert identities.deleted_uuid(connection, 7) is None


def test_words_are_told_by_the_columns_they_stand_in(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        entity = Entity("getUserName", "function", ())
        entity_id, _ = graph_rows.insert_entity(connection, entity, "Test", NOW)
        terms = ['"getusername"', '"user"', '"functions"', '"zebra"']
        found = identities.columns_with(connection, entity_id, terms)
    assert found == {
        '"getusername"': ("title",),
        '"user"': ("hidden_words",),
        '"functions"': ("body",),
    }
