from pathlib import Path

from tests.store.power_cut import cut_everywhere, record

# A checkpoint every 25 pages, so that a short workload has many of them.
OFTEN = {"wal_autocheckpoint": 25}


def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    recording = record(tmp_path / "kmem.db", steps=5, pragmas=OFTEN)
    assert len(recording.states) > 15
    verdicts = cut_everywhere(recording, "kmem.db", tmp_path, every=9)
    assert verdicts.cuts > 300
    assert verdicts.failures == []


def test_the_simulator_sees_what_is_lost_without_syncs(tmp_path: Path) -> None:
    recording = record(tmp_path / "kmem.db", steps=5, pragmas={**OFTEN, "synchronous": "off"})
    verdicts = cut_everywhere(recording, "kmem.db", tmp_path, every=29)
    assert verdicts.kinds["acknowledged and lost"] > 10
    assert len(verdicts.failures) > verdicts.cuts / 4


def test_every_acknowledged_state_differs_from_the_one_before(tmp_path: Path) -> None:
    recording = record(tmp_path / "kmem.db", steps=2, pragmas=OFTEN)
    assert len(set(recording.states)) == len(recording.states)
