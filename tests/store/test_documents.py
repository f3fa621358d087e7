from pathlib import Path

import pytest

from kmem_desktop.domain.changes import Noun
from kmem_desktop.store import documents, fulltext
from kmem_desktop.store.connection import open_connection
from kmem_desktop.store.database import transaction
from tests.store.databases import NOW, add, fresh

TOKEN = "zebrafishtoken"


def everything_on_the_disk(folder: Path) -> bytes:
    """Return the bytes of all files in a folder."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_an_untouched_document_is_not_damaged(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        add(connection, "Título", "text with \0 and 中文 and 😀")
        assert documents.damaged_ids(connection) == []


@pytest.mark.parametrize("rot", [b"a silent chbnge", b"a silent ch\xffnge"])
def test_a_flipped_byte_is_found_though_sqlite_sees_nothing(tmp_path: Path, rot: bytes) -> None:
    path = tmp_path / "kmem.db"
    with fresh(path) as connection:
        add(connection, "Sound", "this one is not touched")
        damaged = add(connection, "Rotten", "a silent change")
    content = path.read_bytes()
    assert content.count(b"a silent change") == 1
    path.write_bytes(content.replace(b"a silent change", rot))
    connection = open_connection(path)
    assert connection.pragma("quick_check") == "ok"
    assert documents.damaged_ids(connection) == [damaged]
    connection.close()


def test_a_deleted_text_is_gone_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    with fresh(path) as connection:
        connection.pragma("wal_autocheckpoint", 0)
        for number in range(20):
            add(connection, f"Other title {number}", "other text " * 30)
        secret = add(connection, f"Title {TOKEN}", f"text with {TOKEN} in it " * 30)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert TOKEN.encode() in everything_on_the_disk(tmp_path)
        with transaction(connection):
            documents.delete(connection, [secret])
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert busy == [(0, 0, 0)]
        left = everything_on_the_disk(tmp_path)
    assert TOKEN.encode() not in left
    assert TOKEN[:-5].encode() not in left  # nor the stem that the index keeps


def test_a_replaced_text_is_gone_from_the_disk(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        item = add(connection, "A title", f"old text with {TOKEN}")
        new = documents.Document(Noun.KNOWLEDGE, "A title", "new text", "test")
        with transaction(connection):
            documents.replace(connection, item, new, NOW)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert TOKEN[:-5].encode() not in everything_on_the_disk(tmp_path)


def test_the_index_follows_every_change(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        first = add(connection, "First", "apple")
        second = add(connection, "Second", "banana")
        with transaction(connection):
            document = documents.Document(Noun.KNOWLEDGE, "First", "cherry", "test", ("fruit",))
            documents.replace(connection, first, document, NOW)
            documents.delete(connection, [second])
        found = {
            word: len(fulltext.matching(connection, f'"{word}"', [first, second]))
            for word in ("apple", "banana", "cherry", "fruit")
        }
        assert found == {"apple": 0, "banana": 0, "cherry": 1, "fruit": 1}
        assert fulltext.is_sound(connection)


def test_an_index_that_does_not_fit_is_noticed(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        item = add(connection, "First", "apple")
        connection.execute("DROP TRIGGER documents_after_update")
        connection.execute("UPDATE documents SET body = 'pear' WHERE id = ?", (item,))
        assert not fulltext.is_sound(connection)


def test_text_behind_a_nul_is_stored_and_found(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        item = add(connection, "A title", "before\0behind")
        assert connection.execute("SELECT body FROM documents").get == "before\0behind"
        assert fulltext.matching(connection, '"behind"', [item]) == {item}


def test_an_id_is_never_given_twice(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        first = add(connection, "First", "apple")
        with transaction(connection):
            documents.delete(connection, [first])
        assert add(connection, "Second", "banana") > first
