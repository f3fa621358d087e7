import pytest

from kmem_desktop.services.found import marked_ranges, matched_words, shortened

S, E = "\ue000", "\ue001"


@pytest.mark.parametrize(
    ("text", "plain", "ranges"),
    [
        ("", "", ()),
        ("no marks", "no marks", ()),
        (f"{S}all{E}", "all", ((0, 3),)),
        (f"a {S}b{E} c {S}d{E}", "a b c d", ((2, 3), (6, 7))),
        (f"{S}a{E}{S}b{E}", "ab", ((0, 1), (1, 2))),
        (f"{S}{E}x", "x", ()),
        (f"x{S}y", "xy", ()),
        (f"{E}{E}{S}{S}", "", ()),
    ],
)
def test_marks_become_ranges(text: str, plain: str, ranges: tuple[tuple[int, int], ...]) -> None:
    assert marked_ranges(text) == (plain, ranges)


def test_matching_words_are_named_once() -> None:
    assert matched_words((f"{S}Cache{E} x {S}cache{E}", f"{S}rule{E}")) == ("cache", "rule")


@pytest.mark.parametrize(
    ("ranges", "text", "moved"),
    [
        ((), "0123456789", ()),
        (((2, 4),), "0123456789", ((2, 4),)),
        (((8, 12),), "6789012345", ((2, 6),)),
        (((2, 4), (15, 16)), "0123456789", ((2, 4),)),
        (((0, 30),), "0123456789", ((0, 10),)),
    ],
)
def test_a_long_text_is_cut_around_its_first_mark(
    ranges: tuple[tuple[int, int], ...], text: str, moved: tuple[tuple[int, int], ...]
) -> None:
    assert shortened("0123456789" * 3, ranges, 10) == (text, moved)


def test_a_short_text_stays() -> None:
    assert shortened("0123", ((1, 2),), 10) == ("0123", ((1, 2),))
