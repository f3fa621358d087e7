"""English for the benchmarks: runs of words out of the manual that Python brings along."""

import random
import re
from functools import cache
from pydoc_data.topics import topics

from kmem_desktop.domain.knowledge import KnowledgeDraft
from kmem_desktop.search.query import STOP_WORDS


@cache
def manual() -> list[str]:
    """Return the manual as one long list of words."""
    return re.findall(r"[A-Za-z][A-Za-z_]+", " ".join(topics.values()))


@cache
def _telling() -> list[str]:
    return [word for word in manual() if word.lower() not in STOP_WORDS]


def run(chance: random.Random, count: int) -> str:
    """Return some words that follow each other in the manual."""
    words = manual()
    start = chance.randrange(len(words) - count)
    return " ".join(words[start : start + count])


def question(chance: random.Random, count: int = 8) -> str:
    """Return words to search for, without stop words, frequent ones more often."""
    return " ".join(chance.choices(_telling(), k=count))


def english_draft(number: int, chance: random.Random) -> KnowledgeDraft:
    """Return an item of about 60 English words that resembles no other too much."""
    title = f"Item {number}: {run(chance, 6)}"[:100]
    body = f"About {number}: {run(chance, 30)}. {run(chance, 30)}."
    return KnowledgeDraft(title, body[:5_000], tuple(question(chance, 3).lower().split()))
