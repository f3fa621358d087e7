"""The background embedding: which model serves, and what happens when another one is to."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from kmem_desktop.config import Paths, resource_path
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.knowledge import KnowledgeItem, KnowledgeQuery
from kmem_desktop.errors import ProviderUnavailableError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.providers import choice
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.providers.model import Model
from kmem_desktop.services import embedding as embedding_module
from kmem_desktop.services import vector_work
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.knowledge import KnowledgeService
from kmem_desktop.store import vectors as vector_rows
from kmem_desktop.store.database import Database
from tests.services.embedding_models import (
    TIMEOUT_S,
    PeakedModel,
    ShortenedModel,
    WordModel,
    WrongSizeModel,
)
from tests.services.memory import ORIGIN, draft

SOON_S = 0.01
PLACES = ("harbour", "meadow", "forest", "desert", "island", "valley", "tundra", "canyon")


@dataclass(frozen=True)
class Memory:
    """A memory with a model of the test's choice."""

    database: Database
    embedding: EmbeddingService
    knowledge: KnowledgeService
    feed: ChangeFeed

    async def store(self, *words: str) -> list[KnowledgeItem]:
        """Store an item for each word."""
        return [
            await self.knowledge.store(
                draft(f"About the {word} of ours", content=f"{word} tales of {word} " * 4),
                ORIGIN,
            )
            for word in words
        ]

    async def nearest(self, question: str) -> str:
        """Return the title that is closest in meaning; empty where meaning cannot be compared."""
        meaning = await self.embedding.meaning_of(question)
        if meaning is None:
            return ""
        ids = await self.database.read(lambda _: meaning.nearest(1))
        return (await self.knowledge.get(ids[0])).title if ids else ""

    async def vector_counts(self) -> dict[str, int]:
        """Return how many texts have a vector of each model."""
        query = (
            "SELECT name, (SELECT count(*) FROM vectors WHERE model_id = m.id)"
            " FROM embedding_models AS m"
        )
        rows = await self.database.read(lambda c: c.execute(query).fetchall())
        return {str(name): int(str(count)) for name, count in rows}


@asynccontextmanager
async def memory_with(profile: Paths, model: Model, *stand_ins: Model) -> AsyncIterator[Memory]:
    """Open the memory for a `with` block; its background work has not begun."""
    async with Database.opened(profile.database) as database:
        feed = ChangeFeed()
        service = EmbeddingService(database, feed, model, stand_ins)
        try:
            yield Memory(database, service, KnowledgeService(database, feed, service), feed)
        finally:
            await service.stop()


async def wait_until(is_so: Callable[[], bool]) -> None:
    """Give the background work time until something is so."""
    async with asyncio.timeout(TIMEOUT_S):
        while not is_so():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0)


async def wait_for(event: threading.Event) -> None:
    """Wait for an event of another thread."""
    assert await asyncio.get_running_loop().run_in_executor(None, event.wait, TIMEOUT_S)


@pytest.fixture
def _retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that fails is tried again at once, and a stand-in needs no patience."""
    for name, value in (("RETRY_AFTER_S", SOON_S), ("TAKE_OVER_AFTER_S", 0.0)):
        monkeypatch.setattr(choice, name, value)
    monkeypatch.setattr(embedding_module, "RETRY_AFTER_S", SOON_S)


@pytest.fixture
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_work, "BATCH_COUNT", 2)
    monkeypatch.setattr(vector_work, "LOAD_COUNT", 3)
    monkeypatch.setattr(embedding_module, "DROP_COUNT", 3)


async def test_every_text_gets_one_vector_and_the_closest_is_found(profile: Paths) -> None:
    model = WordModel()
    async with memory_with(profile, model) as memory:
        await memory.store(*PLACES)
        memory.embedding.start()
        await memory.embedding.settled()
        assert await memory.vector_counts() == {"words": len(PLACES)}
        assert sorted(model.embedded) == sorted(set(model.embedded))
        assert await memory.nearest("tundra tales") == "About the tundra of ours"
        assert memory.embedding.progress == embedding_module.Progress(len(PLACES), len(PLACES))
        assert await memory.embedding.measured() == memory.embedding.progress


async def test_what_was_embedded_is_not_embedded_again(profile: Paths) -> None:
    for added in (PLACES[:4], PLACES[4:]):
        model = WordModel()
        async with memory_with(profile, model) as memory:
            memory.embedding.start()
            await memory.store(*added)
            await memory.embedding.settled()
            assert len(model.embedded) == len(added)
    assert await vectors_left(profile) == {"words": len(PLACES)}


async def vectors_left(profile: Paths) -> dict[str, int]:
    async with memory_with(profile, WordModel()) as memory:
        return await memory.vector_counts()


async def test_a_changed_text_gets_another_vector_and_a_deleted_one_loses_it(
    profile: Paths,
) -> None:
    async with memory_with(profile, WordModel()) as memory:
        memory.embedding.start()
        first, second, _ = await memory.store("harbour", "meadow", "forest")
        await memory.embedding.settled()
        await memory.knowledge.update(
            first.id, {"content": "glacier tales of glacier " * 4}, ORIGIN
        )
        await memory.embedding.settled()
        assert await memory.nearest("glacier tales") == first.title
        await memory.knowledge.delete(first.id, ORIGIN)
        await memory.embedding.settled()
        assert await memory.nearest("glacier tales") != first.title
        assert await memory.nearest("meadow tales") == second.title
        assert await memory.vector_counts() == {"words": 2}


async def test_what_was_just_stored_is_found_by_meaning(
    profile: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_module, "FRESH_PATIENCE_S", TIMEOUT_S)
    async with memory_with(profile, WordModel()) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
        item = (await memory.store("volcano"))[0]
        assert await memory.nearest("volcano tales") == item.title


async def test_nobody_waits_for_the_vectors_of_many_texts(
    profile: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_module, "FRESH_PATIENCE_S", TIMEOUT_S)
    monkeypatch.setattr(embedding_module, "MOST_FRESH", 2)
    model = WordModel()
    async with memory_with(profile, model) as memory:
        memory.embedding.start()
        await memory.store("harbour")
        await memory.embedding.settled()
        model.gate.clear()
        await memory.store("meadow", "forest", "tundra")
        async with asyncio.timeout(TIMEOUT_S / 2):
            assert await memory.nearest("harbour tales") == "About the harbour of ours"
        model.gate.set()


async def test_a_question_does_not_wait_for_the_batch_that_is_being_embedded(
    profile: Paths,
) -> None:
    model = WordModel()
    async with memory_with(profile, model) as memory:
        memory.embedding.start()
        await memory.store("harbour")
        await memory.embedding.settled()
        model.gate.clear()
        await memory.store("meadow")
        await wait_for(model.at_gate)
        assert await memory.nearest("harbour tales") == "About the harbour of ours"
        model.gate.set()


async def test_the_old_model_serves_until_the_new_one_has_every_text(profile: Paths) -> None:
    old, new = WordModel("old"), WordModel("new", dimension=96)
    async with memory_with(profile, old) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
        new.gate.clear()
        await memory.embedding.switch_to(new)
        await wait_for(new.at_gate)
        assert (memory.embedding.serving, memory.embedding.switching_to) == ("old", "new")
        assert memory.embedding.progress == embedding_module.Progress(0, len(PLACES))
        assert await memory.nearest("canyon tales") == "About the canyon of ours"
        await memory.store("glacier")
        new.gate.set()
        await memory.embedding.settled()
        assert (memory.embedding.serving, memory.embedding.switching_to) == ("new", "")
        assert await memory.vector_counts() == {"new": len(PLACES) + 1}
        assert await memory.nearest("glacier tales") == "About the glacier of ours"
        assert "canyon tales" not in new.embedded
        await memory.nearest("canyon tales")
        assert "canyon tales" in new.embedded  # what the old model said of it is forgotten


@pytest.mark.usefixtures("_small_batches")
async def test_a_text_that_comes_during_a_switch_is_found_by_meaning_at_once(
    profile: Paths,
) -> None:
    old, new = WordModel("old"), WordModel("new")
    async with memory_with(profile, old) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
        new.gate.clear()
        await memory.embedding.switch_to(new)
        await wait_for(new.at_gate)
        await memory.store("glacier")
        new.at_gate.clear()
        new.gate.set()
        await wait_until(lambda: any("glacier" in text for text in old.embedded))
        assert memory.embedding.serving == "old"
        await memory.embedding.settled()
        assert memory.embedding.serving == "new"


async def test_a_question_asked_before_the_switch_is_answered_by_the_old_vectors(
    profile: Paths,
) -> None:
    old, new = WordModel("old"), WordModel("new", dimension=32)
    async with memory_with(profile, old) as memory:
        memory.embedding.start()
        items = await memory.store(*PLACES)
        await memory.embedding.settled()
        meaning = await memory.embedding.meaning_of("desert tales")
        assert meaning is not None
        await memory.embedding.switch_to(new)
        await memory.embedding.settled()
        assert meaning.nearest(1) == [items[PLACES.index("desert")].id]


@pytest.mark.usefixtures("_small_batches")
async def test_a_switch_that_was_broken_off_goes_on_where_it_was(profile: Paths) -> None:
    async with memory_with(profile, WordModel("old")) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
    new = WordModel("new")
    async with memory_with(profile, new, WordModel("old")) as memory:
        memory.embedding.start()
        await wait_until(lambda: len(new.embedded) >= 4)
        await memory.embedding.stop()
        counts = await memory.vector_counts()
        assert counts["old"] == len(PLACES)
        done = counts["new"]
        assert done >= 2
    new = WordModel("new")
    async with memory_with(profile, new, WordModel("old")) as memory:
        memory.embedding.start()
        await memory.embedding.settled()
        assert len(new.embedded) == len(PLACES) - done
        assert await memory.vector_counts() == {"new": len(PLACES)}
        assert await memory.nearest("valley tales") == "About the valley of ours"


async def test_a_switch_that_is_given_up_leaves_nothing_behind(profile: Paths) -> None:
    old, new = WordModel("old"), WordModel("new")
    async with memory_with(profile, old) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
        new.gate.clear()
        await memory.embedding.switch_to(new)
        await wait_for(new.at_gate)
        await memory.embedding.cancel_switch()
        assert memory.embedding.switching_to == ""
        new.gate.set()
        await memory.embedding.settled()
        assert (memory.embedding.serving, memory.embedding.switching_to) == ("old", "")
        assert await memory.vector_counts() == {"old": len(PLACES)}
        assert len(old.embedded) == len(PLACES)  # it has served all the time


async def test_a_model_that_cannot_be_used_is_refused_and_nothing_changes(profile: Paths) -> None:
    gone = WordModel("gone")
    gone.is_known_gone = True
    async with memory_with(profile, WordModel("old")) as memory:
        memory.embedding.start()
        await memory.embedding.settled()
        with pytest.raises(ProviderUnavailableError):
            await memory.embedding.switch_to(gone)
        assert (memory.embedding.serving, memory.embedding.switching_to) == ("old", "")


async def test_where_the_old_model_is_gone_words_decide_until_the_new_one_is_ready(
    profile: Paths,
) -> None:
    async with memory_with(profile, WordModel("old")) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
    new = WordModel("new")
    new.gate.clear()
    async with memory_with(profile, new) as memory:
        memory.embedding.start()
        await wait_for(new.at_gate)
        assert await memory.nearest("canyon tales") == ""
        assert memory.embedding.failure == (
            "The model old is not available: search goes by words alone."
        )
        found = await memory.knowledge.search(KnowledgeQuery("canyon tales"))
        assert found.hits[0].item.title == "About the canyon of ours"
        new.gate.set()
        await memory.embedding.settled()
        assert memory.embedding.failure == ""
        assert await memory.nearest("canyon tales") == "About the canyon of ours"


@pytest.mark.usefixtures("_retries_at_once")
async def test_a_model_that_fails_for_a_while_serves_again(profile: Paths) -> None:
    model = WordModel()
    async with memory_with(profile, model) as memory:
        memory.embedding.start()
        await memory.store("harbour")
        await memory.embedding.settled()
        model.is_there = False
        assert await memory.nearest("harbour tales") == ""
        assert memory.embedding.failure == "words does not answer: search goes by words alone."
        await memory.store("meadow")
        model.is_there = True
        await wait_until(lambda: memory.embedding.is_available)
        await memory.embedding.settled()
        assert await memory.nearest("meadow tales") == "About the meadow of ours"


@pytest.mark.usefixtures("_retries_at_once")
async def test_a_stand_in_takes_over_and_the_wanted_model_comes_back(profile: Paths) -> None:
    wanted, stand_in = WordModel("wanted"), WordModel("stand-in", dimension=32)
    async with memory_with(profile, wanted, stand_in) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
        wanted.is_there = False
        await memory.nearest("canyon tales")
        await wait_until(lambda: memory.embedding.serving == "stand-in")
        assert await memory.nearest("canyon tales") == "About the canyon of ours"
        await memory.store("glacier")
        wanted.is_there = True
        await wait_until(lambda: memory.embedding.serving == "wanted")
        await memory.embedding.settled()
        # Its vectors had stayed: only the new text was to be embedded.
        assert len([text for text in wanted.embedded if text.startswith("About")]) == 9
        assert await memory.nearest("glacier tales") == "About the glacier of ours"
        assert await memory.vector_counts() == {"wanted": len(PLACES) + 1}


async def test_a_text_that_the_model_refuses_does_not_keep_the_others_waiting(
    profile: Paths,
) -> None:
    model = WordModel()
    model.refused = "meadow"
    async with memory_with(profile, model) as memory:
        await memory.store(*PLACES)
        memory.embedding.start()
        await memory.embedding.settled()
        assert memory.embedding.failure == ""
        assert await memory.vector_counts() == {"words": len(PLACES)}
        assert await memory.nearest("canyon tales") == "About the canyon of ours"


async def test_a_model_that_is_not_what_it_says_is_not_used(profile: Paths) -> None:
    async with memory_with(profile, WrongSizeModel()) as memory:
        await memory.store("harbour")
        memory.embedding.start()
        await memory.embedding.settled()
        assert "another size" in memory.embedding.failure
        assert await memory.vector_counts() == {"words": 0}


async def test_the_scale_fits_the_model_and_stays(profile: Paths) -> None:
    async def scale_of(memory: Memory) -> float | None:
        row = await memory.database.read(lambda c: vector_rows.model_named(c, "peaked"))
        return row.scale if row else None

    async with memory_with(profile, PeakedModel("peaked")) as memory:
        memory.embedding.start()
        await memory.store(*PLACES)
        await memory.embedding.settled()
        scale = await scale_of(memory)
        assert scale == pytest.approx(127, rel=0.02)
        meaning = await memory.embedding.meaning_of("About the tundra of ours")
        assert meaning is not None
    async with memory_with(profile, PeakedModel("peaked")) as memory:
        memory.embedding.start()
        await memory.store("glacier")
        await memory.embedding.settled()
        assert await scale_of(memory) == scale


async def test_the_process_follows_when_another_one_has_switched(profile: Paths) -> None:
    old, new = WordModel("old"), WordModel("new")
    async with memory_with(profile, old, new) as mine, memory_with(profile, new, old) as other:
        mine.embedding.start()
        await mine.store(*PLACES)
        await mine.embedding.settled()
        other.embedding.start()
        await other.embedding.settled()
        assert other.embedding.serving == "new"
        mine.feed.publish(Change(Noun.KNOWLEDGE))
        await mine.embedding.settled()
        assert mine.embedding.serving == "new"
        assert await mine.nearest("canyon tales") == "About the canyon of ours"
        assert await mine.vector_counts() == {"new": len(PLACES)}


async def test_vectors_that_another_process_made_are_compared_too(profile: Paths) -> None:
    async with (
        memory_with(profile, WordModel()) as mine,
        memory_with(profile, WordModel()) as other,
    ):
        mine.embedding.start()
        await mine.embedding.settled()
        other.embedding.start()
        (item,) = await other.store("harbour")
        await other.embedding.settled()
        assert await mine.nearest("harbour tales") == ""
        mine.feed.publish(Change(Noun.KNOWLEDGE))
        await mine.embedding.settled()
        assert await mine.nearest("harbour tales") == item.title


async def test_no_model_at_all_is_said_and_search_goes_on(profile: Paths) -> None:
    model = WordModel()
    model.is_known_gone = True
    async with memory_with(profile, model) as memory:
        memory.embedding.start()
        await memory.store("harbour")
        await memory.embedding.settled()
        assert memory.embedding.failure == (
            "The embedding model is not available: search goes by words alone."
        )
        assert await memory.nearest("harbour tales") == ""
        assert (await memory.knowledge.search(KnowledgeQuery("harbour"))).total_matches == 1


async def test_the_bundled_model_gives_way_to_another_real_one(profile: Paths) -> None:
    bundled = EmbeddedModel(resource_path("embedding"))
    shortened = ShortenedModel(bundled)
    texts = {
        "The ship": "The vessel left the port at dawn with a crew of twelve sailors.",
        "The bread": "Flour, water and yeast rest for a night before the loaf is baked.",
        "The server": "The database crashed because its disk was full of old log files.",
    }
    async with memory_with(profile, bundled) as memory:
        memory.embedding.start()
        for title, content in texts.items():
            await memory.knowledge.store(draft(f"{title} and more", content=content), ORIGIN)
        for model in (bundled, shortened):
            with contextlib.suppress(ProviderUnavailableError):
                await memory.embedding.switch_to(model)
            await memory.embedding.settled()
            assert memory.embedding.serving == model.name
            assert await memory.nearest("baking at home") == "The bread and more"
            assert await memory.nearest("seafaring") == "The ship and more"
            assert await memory.nearest("computer trouble") == "The server and more"
        assert await memory.vector_counts() == {shortened.name: len(texts)}


async def test_an_answer_without_a_word_of_the_question_is_found(profile: Paths) -> None:
    content = "Deploys go out on Tuesday mornings, after the standup."
    async with memory_with(profile, EmbeddedModel(resource_path("embedding"))) as memory:
        memory.embedding.start()
        await memory.knowledge.store(draft("Deploy day of the team", content=content), ORIGIN)
        await memory.embedding.settled()
        hits = (await memory.knowledge.search(KnowledgeQuery("when do we release?"))).hits
        assert [hit.item.content for hit in hits] == [content]
        unrelated = KnowledgeQuery("how do plants make sugar?")
        assert (await memory.knowledge.search(unrelated)).hits == ()
