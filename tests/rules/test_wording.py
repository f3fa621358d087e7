import pytest

from kmem_desktop.domain.rules import Severity
from kmem_desktop.rules.documents.wording import (
    marker,
    prohibits,
    sentences,
    severity_of_item,
    severity_of_sentence,
)

MUST, SHOULD, MAY = Severity.MUST, Severity.SHOULD, Severity.MAY


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("Use type hints", SHOULD),
        ("use uppercase for SQL keywords", SHOULD),
        ("Prefer functions over classes", SHOULD),
        ("Avoid global state", SHOULD),
        ("Never hardcode strings", MUST),
        ("Always wrap activities with try", MUST),
        ("NEVER change the original code", MUST),
        ("Non-public services must perform access control", MUST),
        ("Functions should be small", SHOULD),
        ("Consider splitting large files", MAY),
        ("**Locators**: Prioritize user-facing locators", SHOULD),
        ("**Validation:** Always validate input", MUST),
        ("When adding features, update the README.md", SHOULD),
        ("If you must reassign references, use `let`", SHOULD),
        ("Parameterized always — never string interpolation", MUST),
        ("No `SELECT *`", SHOULD),
        ("`margin-inline-start` not `margin-left`", SHOULD),
        ("**Classes**: PascalCase", SHOULD),
        ("NOT NULL by default", SHOULD),
        ("使用 `ISNULL()` 来判断\uff0c不得直接比较", MUST),
        ("建议使用枚举类型来表示状态", SHOULD),
        ("必ずテストケースを含めます。", MUST),
        ("明確な例外処理を書きます。", SHOULD),
        ("ログを出力してください。", SHOULD),
    ],
)
def test_an_item_that_asks_for_something_is_known(text: str, severity: Severity) -> None:
    assert severity_of_item(text) is severity


@pytest.mark.parametrize(
    "text",
    [
        "`main.go` - CLI entry point",
        "Log levels are described below",
        "Test files follow Go convention",
        "Registry Pattern - Document loaders",
        "State Management",
        "Which files should the developer look at first?",
        "You are an expert in Svelte",
        "Database Management (SQL, NoSQL)",
        "Uses t.Run for subtests",
        "`onPaste()` (user would need to paste)",
        "Note that `0` evaluates to true",
        "Fast and free",
        "",
        "...",
        "コンポーネントの一覧",
    ],
)
def test_an_item_that_asks_for_nothing_is_left(text: str) -> None:
    assert severity_of_item(text) is None


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("Run the linter after every change.", SHOULD),
        ("All new code should import each module by its full name.", SHOULD),
        ("The server must verify the token.", MUST),
        ("Services MAY support PUT.", MAY),
        ("Don't respond with just code changes.", SHOULD),
        ("Always ask before introducing dependencies.", MUST),
        ("An attacker may read the file.", None),
        ("You should see the page now.", None),
        ("This must be a mistake.", None),
        ("It explains what users must do.", None),
        ("The project uses Go.", None),
        ("See the other document.", None),
        ("Docs are never perfect.", None),
    ],
)
def test_prose_is_judged_more_strictly(text: str, severity: Severity | None) -> None:
    assert severity_of_sentence(text) is severity


@pytest.mark.parametrize(
    ("text", "is_forbidden"),
    [
        ("Never use tabs", True),
        ("**Never** use tabs", True),
        ("Don\u2019t use tabs", True),
        ("Icons should NOT be flipped.", True),
        ("For tests, do not sleep", True),
        ("**Hooks**: Avoid nesting", True),
        ("Use spaces; never use tabs", False),
        ("Reject a transition that the rules do not allow", False),
        ("Non-null by default", False),
        ("不要使用外键", True),
        ("使用接口\uff0c不要使用类", False),
        ("コメントは記述しません。", True),
        ("検証しなければなりません。", False),
    ],
)
def test_a_prohibition_is_known_by_its_words(text: str, is_forbidden: bool) -> None:
    assert prohibits(text) is is_forbidden


@pytest.mark.parametrize(
    ("text", "severity", "is_forbidden", "rest"),
    [
        ("**DO** define scenarios", MUST, False, "define scenarios"),
        ("**DO NOT** add APIs", MUST, True, "DO NOT add APIs"),
        ("**YOU SHOULD** use enums", SHOULD, False, "use enums"),
        ("**YOU SHOULD NOT** use brands", SHOULD, True, "YOU SHOULD NOT use brands"),
        ("**YOU MAY** page", MAY, False, "page"),
        ("**[MUST NOT]** page", MUST, True, "page"),
        ("【强制】不要使用", MUST, True, "不要使用"),
        ("【推荐】使用枚举", SHOULD, False, "使用枚举"),
        ("【参考】使用枚举", MAY, False, "使用枚举"),
    ],
)
def test_a_mark_before_a_text_is_read(
    text: str, severity: Severity, is_forbidden: bool, rest: str
) -> None:
    found = marker(text)
    assert found is not None
    assert (found.severity, found.prohibits, found.text) == (severity, is_forbidden, rest)


def test_a_text_without_a_mark_has_none() -> None:
    assert marker("**Do it** now") is None
    assert marker("【其他】x") is None


def test_sentences_end_at_stops_and_not_at_abbreviations() -> None:
    assert sentences("Use a cache, e.g. Redis. Never block! Why? **Because.**") == [
        "Use a cache, e.g. Redis.",
        "Never block!",
        "Why?",
        "**Because.**",
    ]
    assert sentences("使用枚举。不要使用。") == ["使用枚举。", "不要使用。"]
