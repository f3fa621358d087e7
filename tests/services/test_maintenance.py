import apsw

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.knowledge import KnowledgeDraft

DRAFT = KnowledgeDraft(
    "Queue moved from Redis to PostgreSQL",
    "Jobs were lost when Redis was restarted without persistence on the worker hosts.",
    ("queue",),
)


async def test_a_sound_memory_is_whole(services: Services, origin: Origin) -> None:
    await services.knowledge.store(DRAFT, origin)
    health = await services.maintenance.check()
    assert health.is_whole
    assert (health.texts, health.without_vector) == (1, 1)
    assert "words alone" in health.meaning


async def test_a_text_that_changed_by_itself_is_noticed(
    services: Services, origin: Origin, profile: Paths
) -> None:
    item = await services.knowledge.store(DRAFT, origin)
    connection = apsw.Connection(str(profile.database))
    connection.execute("DROP TRIGGER documents_after_update")
    connection.execute("UPDATE documents SET body = 'rotten' WHERE id = ?", (item.id,))
    connection.close()
    health = await services.maintenance.check()
    assert not health.is_whole
    assert "1 texts are not as they were stored." in health.problems
    assert "The search index does not fit the texts." in health.problems
