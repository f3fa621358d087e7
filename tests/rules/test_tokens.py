import json

import pytest

from kmem_desktop.rules.tokens import count_tokens

PROSE = (
    "A rule that has nothing to do with the task only costs attention, and a list of forty rules is"
    " read by nobody. So the few that matter are chosen, and each says where it comes from. "
)
CODE = (
    "def total(lines):\n    return sum(line.price * line.count for line in lines if line.count)\n"
)
DATA = json.dumps(
    [{"id": n, "name": f"item-{n}", "tags": ["a", "b"], "ok": True} for n in range(9)]
)


def characters_per_token(text: str) -> float:
    return len(text) / count_tokens(text)


@pytest.mark.parametrize(
    ("text", "lowest", "highest"), [(PROSE * 4, 4.2, 5.0), (CODE * 8, 2.8, 3.8), (DATA, 1.7, 3.2)]
)
def test_a_token_is_as_long_as_was_measured_for_its_kind(
    text: str, lowest: float, highest: float
) -> None:
    assert lowest <= characters_per_token(text) <= highest


def test_code_and_data_are_denser_than_prose() -> None:
    lengths = [characters_per_token(text) for text in (PROSE, CODE, DATA)]
    assert lengths == sorted(lengths, reverse=True)


def test_code_inside_prose_is_counted_as_code() -> None:
    together = count_tokens(f"{PROSE}\n{CODE}")
    assert together == pytest.approx(count_tokens(PROSE) + count_tokens(CODE), abs=2)


@pytest.mark.parametrize(
    "text", ["数据库查询很慢需要添加索引", "データベースのクエリ", "데이터베이스쿼리"]
)
def test_scripts_without_spaces_cost_about_a_token_a_character(text: str) -> None:
    assert len(text) <= count_tokens(text) <= 1.5 * len(text)


def test_nothing_costs_nothing_and_a_word_something() -> None:
    assert count_tokens("") == 0
    assert count_tokens("word") >= 1


@pytest.mark.parametrize("text", [PROSE, CODE, DATA, "数据库", "🙂🙂", "\x00", "\ud800"])
def test_more_text_never_costs_less(text: str) -> None:
    costs = [count_tokens(text * times) for times in range(1, 6)]
    assert costs == sorted(costs)


def test_indentation_costs_hardly_anything() -> None:
    assert count_tokens(" " * 40 + "return x") <= count_tokens("return x") + 1
