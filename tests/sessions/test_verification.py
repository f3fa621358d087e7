"""A model's summary keeps only what the turns say."""

import pytest

from kmem_desktop.domain.sessions.conversations import Bullet, BulletKind, Summary, SummaryFormat
from kmem_desktop.sessions.verification import checked
from tests.sessions.conversations import PLANNING


def summary(*bullets: Bullet) -> Summary:
    return Summary(SummaryFormat.BULLET_POINTS, "as the model wrote it", bullets, 0)


def test_a_statement_that_its_turn_bears_out_is_kept() -> None:
    good = Bullet(BulletKind.DECISION, "The cache key is `invoice:{id}:{version}`.", 1)
    found = checked(summary(good), PLANNING)
    assert found.bullets == (good,)
    assert found.dropped_count == 0
    assert found.text == "- The cache key is `invoice:{id}:{version}`. [1]"


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("The cache key is `customer:{id}`.", 1),
        ("Eviction follows `allkeys-lru` with 1024 MB.", 1),
        ("Kubernetes holds the rendered invoices.", 1),
        ("The team celebrated the launch with cake.", 4),
        ("The cache key is `invoice:{id}:{version}`.", 8),
        ("The cache key is `invoice:{id}:{version}`.", 99),
    ],
)
def test_a_statement_that_its_turn_does_not_bear_out_is_dropped(text: str, position: int) -> None:
    found = checked(summary(Bullet(BulletKind.FACT, text, position)), PLANNING)
    assert found.bullets == ()
    assert found.dropped_count == 1


def test_what_was_taken_back_is_dropped_unless_it_is_told_as_reversed() -> None:
    stale = Bullet(BulletKind.DECISION, "Redis holds the rendered invoices for 15 minutes.", 1)
    told = Bullet(
        BulletKind.REVERSAL, "Redis is not available, memcached is used on the same host.", 5, 1
    )
    assert checked(summary(stale, told), PLANNING).bullets == (told,)
