import logging

import pytest

from kmem_desktop.domain.changes import Noun
from kmem_desktop.events import Change, ChangeFeed

NEWS = Change(Noun.KNOWLEDGE, (1,))


def test_everybody_hears_of_every_change() -> None:
    feed = ChangeFeed()
    first: list[Change] = []
    second: list[Change] = []
    feed.subscribe(first.append)
    feed.subscribe(second.append)
    feed.publish(NEWS)
    assert first == second == [NEWS]


def test_who_unsubscribed_hears_nothing_more() -> None:
    feed = ChangeFeed()
    heard: list[Change] = []
    stop = feed.subscribe(heard.append)
    feed.publish(NEWS)
    stop()
    feed.publish(NEWS)
    assert heard == [NEWS]


def test_a_subscriber_may_unsubscribe_while_it_hears() -> None:
    feed = ChangeFeed()
    heard: list[Change] = []
    stops = [feed.subscribe(lambda change: stops[0]()), feed.subscribe(heard.append)]
    feed.publish(NEWS)
    feed.publish(NEWS)
    assert heard == [NEWS, NEWS]


def test_a_bug_of_one_subscriber_keeps_nothing_from_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    feed = ChangeFeed()
    heard: list[Change] = []

    def broken(change: Change) -> None:
        raise ValueError("a bug")

    feed.subscribe(broken)
    feed.subscribe(heard.append)
    with caplog.at_level(logging.ERROR):
        feed.publish(NEWS)
    assert heard == [NEWS]
    assert "a bug" in caplog.text


def test_nobody_needs_to_listen() -> None:
    ChangeFeed().publish(NEWS)
