"""An import that is killed in the middle and run again: nothing twice, nothing missing."""

import json
import subprocess
import sys
import time
from pathlib import Path

import apsw
import psutil  # type: ignore[import-untyped]
import pytest

from tests.end_to_end.programs import Memory, clean_environment
from tests.services.importing.transcripts import claude_projects

SESSIONS = 60
TURNS = 40


def stored_count(database: Path) -> int:
    """Return how many turns are on the disk, as another process sees it."""
    if not database.exists():
        return 0
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(5000)
        return int(connection.execute("SELECT count(*) FROM turns").get)
    except apsw.SQLError:  # the tables are being made
        return 0
    finally:
        connection.close()


def kill_in_the_middle(command: list[str], database: Path, above: int) -> int:
    """Start an import, kill it once more than so many turns are stored; return how many were."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment()
    ) as process:
        children: list[psutil.Process] = []
        while (count := stored_count(database)) <= above and process.poll() is None:
            children = psutil.Process(process.pid).children()
            time.sleep(0)
        process.kill()
        process.wait()
    psutil.wait_procs(children, timeout=10)
    # What reads for it ends by itself when nobody listens any more.
    assert not [child for child in children if child.is_running()]
    return count


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_an_import_that_is_killed_again_and_again_comes_out_whole(
    memory: Memory, tmp_path: Path
) -> None:
    projects = claude_projects(tmp_path, *[(f"s{number:03d}", TURNS) for number in range(SESSIONS)])
    command = memory.command("import", str(projects))
    counts = [0]
    for _ in range(2):
        counts.append(kill_in_the_middle(command, memory.database, counts[-1]))
    assert counts == sorted(counts)
    assert 0 < counts[1] < SESSIONS * TURNS
    report = json.loads(memory.run("import", str(projects), "--json").stdout)
    assert report["turns_new"] + report["turns_known"] == SESSIONS * TURNS
    connection = apsw.Connection(str(memory.database), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute(
        "SELECT s.source_id, count(*), count(DISTINCT t.source_id), min(t.position),"
        " max(t.position), s.entry_count, group_concat(d.body, '|') FROM sessions AS s"
        " JOIN turns AS t ON t.session_id = s.id JOIN documents AS d ON d.id = t.id"
        " GROUP BY s.id ORDER BY s.source_id"
    ).fetchall()
    assert [row[:6] for row in rows] == [
        (f"s{number:03d}", TURNS, TURNS, 0, TURNS - 1, TURNS) for number in range(SESSIONS)
    ]
    assert all(f"Turn {TURNS - 1} of {row[0]}" in str(row[6]) for row in rows)
    assert connection.execute("SELECT count(*), count(finished_at) FROM imports").fetchall() == [
        (1, 1)
    ]
    connection.close()
    assert memory.run("doctor").returncode == 0
