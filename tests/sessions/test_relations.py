"""Relations between entries, on pairs in our own words: what is seen is right."""

from datetime import UTC, datetime, timedelta

import pytest

from kmem_desktop.domain.sessions.conversations import EntryRelation
from kmem_desktop.sessions.relations import RelatedEntry, relation_between

START = datetime(2026, 5, 3, tzinfo=UTC)
SUPERSEDES, CONTRADICTS = EntryRelation.SUPERSEDES, EntryRelation.CONTRADICTS
IMPLEMENTS, BUILDS_ON = EntryRelation.IMPLEMENTS, EntryRelation.BUILDS_ON
REFERENCES = EntryRelation.REFERENCES

# Kind and text of the earlier entry, kind and text of the later one, and how that relates.
PAIRS: list[tuple[str, str, str, str, EntryRelation | None]] = [
    (
        "decision",
        "We store sessions in Redis.",
        "decision",
        "Sessions no longer live in Redis; we store them in Postgres.",
        SUPERSEDES,
    ),
    (
        "decision",
        "The API uses REST endpoints for orders.",
        "decision",
        "We switched from REST endpoints to GraphQL for the orders API.",
        SUPERSEDES,
    ),
    (
        "rule",
        "Format the code with black.",
        "rule",
        "Format the code with ruff instead of black.",
        SUPERSEDES,
    ),
    (
        "decision",
        "Deploy with docker compose on one host.",
        "decision",
        "We moved away from docker compose; deploy with Nomad on three hosts.",
        SUPERSEDES,
    ),
    (
        "decision",
        "The log level is INFO in production.",
        "insight",
        "As of today the log level in production is WARNING, previously INFO.",
        SUPERSEDES,
    ),
    (
        "decision",
        "Invoices are numbered by a sequence.",
        "decision",
        "The sequence for invoice numbers was dropped, a UUID replaced it.",
        SUPERSEDES,
    ),
    (
        "insight",
        "The cache makes the report fast.",
        "insight",
        "The cache does not help the report, the query plan is the cause.",
        CONTRADICTS,
    ),
    (
        "insight",
        "Retries fix the timeout of the mail queue.",
        "insight",
        "It is wrong that retries fix the timeout of the mail queue.",
        CONTRADICTS,
    ),
    (
        "rule",
        "Always use tabs in Makefiles and Python files.",
        "rule",
        "Never use tabs in Makefiles and Python files.",
        CONTRADICTS,
    ),
    (
        "rule",
        "Enable strict mode in the TypeScript config.",
        "rule",
        "Disable strict mode in the TypeScript config.",
        CONTRADICTS,
    ),
    (
        "insight",
        "The importer is thread safe.",
        "insight",
        "The importer is not thread safe.",
        CONTRADICTS,
    ),
    (
        "decision",
        "Uploads are limited to 5 MB per file.",
        "code",
        "Implemented the limit of uploads: 5 MB per file in upload.py.",
        IMPLEMENTS,
    ),
    (
        "decision",
        "Add a health endpoint to the service.",
        "code",
        "The health endpoint is now in production, as decided.",
        IMPLEMENTS,
    ),
    (
        "pattern",
        "Use the repository pattern for storage.",
        "code",
        "class OrderStore implements the repository pattern for storage.",
        IMPLEMENTS,
    ),
    (
        "decision",
        "Errors carry a code such as STORE_BUSY in `errors.py`.",
        "code",
        "class StoreBusyError: code = 'STORE_BUSY'  # errors.py",
        IMPLEMENTS,
    ),
    (
        "insight",
        "The index speeds up the lookup by name.",
        "insight",
        "Based on the index by name, the lookup by prefix is fast too.",
        BUILDS_ON,
    ),
    (
        "decision",
        "The search is hybrid: words and vectors.",
        "decision",
        "In addition to words and vectors the search extends to neighbours.",
        BUILDS_ON,
    ),
    (
        "pattern",
        "Each write is one transaction.",
        "pattern",
        "Building on one transaction for each write, history rows join it.",
        BUILDS_ON,
    ),
    (
        "reference",
        "The retention table lists 30 days for logs.",
        "insight",
        "Logs are kept for 30 days, see the retention table.",
        REFERENCES,
    ),
    (
        "insight",
        "The parser reads front matter line by line.",
        "question",
        "Does the front matter parser, as described above, read lists?",
        REFERENCES,
    ),
    (
        "code",
        "def parse_header(line): in importer/header.py",
        "error",
        "parse_header raised ValueError in importer/header.py at line 7.",
        REFERENCES,
    ),
    # Alike, but nothing says how they belong together.
    (
        "insight",
        "The tests run for nine minutes.",
        "insight",
        "The tests of the parser run for two minutes.",
        None,
    ),
    ("question", "How do I start the worker?", "question", "How do I stop the worker?", None),
    ("insight", "Postgres is used for orders.", "insight", "Postgres is used for invoices.", None),
    ("code", "for row in rows: print(row)", "code", "for item in items: print(item)", None),
    ("decision", "We use uv for packages.", "decision", "We use uv for packages.", None),
    (
        "question",
        "Should we drop the old index on name?",
        "insight",
        "The index on name takes 2 GB.",
        None,
    ),
    (
        "insight",
        "The deployment takes ten minutes.",
        "question",
        "Is the deployment no longer automatic?",
        None,
    ),
    (
        "insight",
        "Ann likes dark themes in the editor.",
        "insight",
        "Ann uses the editor for hours.",
        None,
    ),
    (
        "answer",
        "The worker writes its log to stdout.",
        "answer",
        "The scheduler writes its log to stdout.",
        None,
    ),
]


def found(pair: tuple[str, str, str, str, EntryRelation | None], similarity: float = 0.8):
    one = RelatedEntry(1, pair[0], "", pair[1], START)
    other = RelatedEntry(2, pair[2], "", pair[3], START + timedelta(days=1))
    return relation_between(one, other, similarity)


def test_what_is_seen_is_right_and_most_is_seen() -> None:
    seen = [(pair[4], relation.relation) for pair in PAIRS if (relation := found(pair))]
    right = sum(expected is relation for expected, relation in seen)
    there = sum(pair[4] is not None for pair in PAIRS)
    assert right / len(seen) >= 0.9
    assert right / there >= 0.8


@pytest.mark.parametrize("pair", [p for p in PAIRS if p[4] is None], ids=lambda p: p[3][:40])
def test_entries_that_are_only_alike_are_not_related(pair) -> None:
    assert found(pair) is None


def test_a_relation_goes_from_the_later_entry_to_the_earlier_one() -> None:
    earlier = RelatedEntry(9, "decision", "", PAIRS[0][1], START)
    later = RelatedEntry(3, "decision", "", PAIRS[0][3], START + timedelta(hours=1))
    for relation in (
        relation_between(earlier, later, 0.75),
        relation_between(later, earlier, 0.75),
    ):
        assert relation is not None
        assert (relation.from_id, relation.to_id) == (3, 9)
        assert relation.words == "no longer"
        assert relation.strength == 0.75


def test_what_is_less_alike_is_not_related() -> None:
    assert found(PAIRS[0], 0.69) is None
    assert found(PAIRS[0], 0.7) is not None
