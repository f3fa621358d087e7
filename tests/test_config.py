import json
import logging
from pathlib import Path

import pytest

from kmem_desktop.config import APP_NAME, Settings, SettingsFile, paths


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "settings.json"


def stored(file: Path, content: object) -> Settings:
    """Return what is read from a settings file with this content."""
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(content), encoding="utf-8")
    return SettingsFile(file).current


def test_without_a_name_the_files_are_where_the_system_wants_them() -> None:
    default = paths(None)
    assert default.is_default
    assert default.database.name == "kmem.db"
    for path in (default.database, default.settings, default.log):
        assert path.is_absolute()
        assert APP_NAME in path.parts


def test_a_named_database_has_everything_beside_it(tmp_path: Path) -> None:
    named = paths(str(tmp_path / "work.db"))
    assert not named.is_default
    assert named.database == tmp_path / "work.db"
    assert {named.settings.parent, named.log.parent} == {tmp_path}


def test_two_profiles_in_one_folder_never_meet(tmp_path: Path) -> None:
    first, second = paths(str(tmp_path / "a.db")), paths(str(tmp_path / "b.db"))
    assert first.settings != second.settings
    assert first.log != second.log


def test_without_a_file_the_defaults_are_used(file: Path) -> None:
    assert SettingsFile(file).current == Settings()
    assert not file.exists()


def test_a_change_is_saved_at_once(file: Path) -> None:
    assert SettingsFile(file).change(theme="dark", zoom_percent=150).theme == "dark"
    assert SettingsFile(file).current == Settings(theme="dark", zoom_percent=150)
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_changes_add_up(file: Path) -> None:
    settings = SettingsFile(file)
    settings.change(theme="dark")
    settings.change(told_that_closing_hides=True)
    assert SettingsFile(file).current == Settings(theme="dark", told_that_closing_hides=True)


def test_what_somebody_else_changed_meanwhile_is_kept(file: Path) -> None:
    window, service = SettingsFile(file), SettingsFile(file)
    service.change(models={"chat": {"provider": "off"}})
    window.change(theme="dark")
    both = Settings(theme="dark", models={"chat": {"provider": "off"}})
    assert SettingsFile(file).current == service.refresh() == both


def test_a_file_that_is_gone_or_damaged_meanwhile_changes_nothing(file: Path) -> None:
    settings = SettingsFile(file)
    settings.change(theme="dark")
    file.write_text("{")
    assert settings.refresh() == Settings(theme="dark")
    file.unlink()
    assert settings.change(zoom_percent=150) == Settings(theme="dark", zoom_percent=150)


def test_an_unknown_setting_is_a_bug(file: Path) -> None:
    with pytest.raises(TypeError):
        SettingsFile(file).change(no_such_setting=1)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"17", b'"x"', b"{" * 100_000]
)
def test_a_damaged_file_gives_the_defaults_and_is_told(
    file: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert SettingsFile(file).current == Settings()
    assert "could not be read" in caplog.text


def test_a_folder_in_its_place_gives_the_defaults(file: Path) -> None:
    file.mkdir(parents=True)
    assert SettingsFile(file).current == Settings()


def test_settings_of_another_version_are_passed_over(file: Path) -> None:
    assert stored(file, {"theme": "dark", "of_the_future": [1]}) == Settings(theme="dark")


@pytest.mark.parametrize(
    ("content", "settings"),
    [
        ({"zoom_percent": 1000}, Settings(zoom_percent=200)),
        ({"zoom_percent": -5}, Settings(zoom_percent=80)),
        ({"archive_after_days": 0}, Settings(archive_after_days=1)),
        ({"delete_after_days": 99_999}, Settings(delete_after_days=3_650)),
        ({"zoom_percent": "150"}, Settings()),
        ({"zoom_percent": True}, Settings()),
        ({"zoom_percent": 1.5}, Settings()),
        ({"theme": "purple"}, Settings()),
        ({"theme": None}, Settings()),
        ({"told_that_closing_hides": "yes"}, Settings()),
        ({"window_geometry": "AAAA"}, Settings(window_geometry="AAAA")),
    ],
)
def test_a_value_of_the_wrong_kind_is_the_default(
    file: Path, content: dict[str, object], settings: Settings
) -> None:
    assert stored(file, content) == settings


def test_a_change_of_another_process_is_seen_and_the_same_file_is_not_read_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = SettingsFile(file)
    ours.change(theme="dark")
    for percent in (110, 120, 130):  # all within one tick of a coarse clock
        SettingsFile(file).change(zoom_percent=percent)
        assert ours.refresh() == Settings(theme="dark", zoom_percent=percent)
    opened: list[object] = []
    monkeypatch.setattr(SettingsFile, "_load", lambda _, otherwise: opened.append(otherwise))
    assert ours.refresh().zoom_percent == 130
    assert opened == []
