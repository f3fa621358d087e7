from datetime import UTC, datetime

from kmem_desktop.services.activity import ActivityService


def test_who_comes_and_goes_is_told() -> None:
    activity = ActivityService()
    told: list[list[str]] = []
    stop = activity.listen(lambda: told.append([c.name for c in activity.clients()]))
    visit = activity.arrive()
    activity.name(visit, "Claude Code", "2.1")
    activity.name(visit, "Claude Code", "2.1")
    other = activity.arrive()
    activity.leave(visit)
    activity.leave(other)
    stop()
    activity.arrive()
    assert told == [
        ["Unknown client"],
        ["Claude Code"],
        ["Claude Code", "Unknown client"],
        ["Unknown client"],
        [],
    ]


def test_a_client_is_shown_with_its_calls() -> None:
    activity = ActivityService()
    visit = activity.arrive()
    activity.name(visit, "Cursor", "1.0")
    visit.calls += 3
    (client,) = activity.clients()
    assert (client.name, client.version, client.calls) == ("Cursor", "1.0", 3)
    assert client.connected_at <= datetime.now(UTC)


def test_serving_is_paused_and_resumed() -> None:
    activity = ActivityService()
    told: list[bool] = []
    activity.listen(lambda: told.append(activity.is_paused))
    activity.pause(paused=True)
    activity.pause(paused=False)
    assert told == [True, False]
