"""Secrets are removed, counted by kind, and nothing else is touched."""

import json
import uuid
from pathlib import Path

import pytest

from kmem_desktop.sessions.secrets import redact
from tests.server.corpora import corpora
from tests.sessions.fakes import fakes

FAKES = fakes()
ALONE = {"AWS key", "GitHub token", "JWT", "npm token", "Anthropic key", "Stripe key"}
"""These are known by themselves, wherever they begin."""


@pytest.mark.parametrize(
    ("kind", "secret", "line"), FAKES, ids=[f"{n}-{f[0]}" for n, f in enumerate(FAKES)]
)
def test_a_secret_is_replaced_by_a_mark_that_names_its_kind(
    kind: str, secret: str, line: str
) -> None:
    redaction = redact(f"before\n{line}\nafter")
    assert secret not in redaction.text
    assert f"[secret removed: {kind}]" in redaction.text
    assert redaction.counts == {kind: 1}
    assert redaction.text.startswith("before\n")
    assert redaction.text.endswith("\nafter")


def test_redacting_again_changes_nothing() -> None:
    text = "\n".join(line for _, _, line in FAKES)
    once = redact(text)
    again = redact(once.text)
    assert again.text is once.text
    assert again.counts == {}


def test_secrets_are_found_in_json_that_is_written_into_json() -> None:
    inner = json.dumps({"password": "pa55" + "Wort!9", "host": "db"})
    redaction = redact(json.dumps({"arguments": inner}))
    assert redaction.counts == {"password": 1}
    assert json.loads(json.loads(redaction.text)["arguments"])["host"] == "db"


@pytest.mark.parametrize("depth", [1, 2])
def test_every_secret_is_found_in_escaped_text_too(depth: int) -> None:
    for kind, secret, line in FAKES:
        escaped = f"before\n{line}\n{secret if kind in ALONE else ''}\nafter"
        for _ in range(depth):
            escaped = json.dumps(escaped)
        text = redact(escaped).text
        assert not any(json.dumps(part)[1:-1] in text for part in secret.split("\n")), line
        for _ in range(depth):
            text = json.loads(text)
        assert text.startswith("before\n")
        assert text.endswith("\nafter")


def test_a_text_without_secrets_is_the_same_object() -> None:
    text = "Nothing to see here: the key is under the mat, and the token ring is down."
    assert redact(text).text is text


@pytest.mark.parametrize(
    "line",
    [
        "commit 1c0afda7d3f5c0b2a1e4d5c6b7a8990011223344",
        f"session_id: {uuid.UUID(int=2**127 + 12345)}",
        "sha256:be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        '"integrity": "sha512-V8g0fGqLwHJ8YyT1cX0Ck3mXqj1h8nEo9x7xPz0rJ6bV0Qw2u7hQZb4sTt6l1w=="',
        '{ url = "https://files.pythonhosted.org/packages/0123456789/x.whl", hash = "sha256:be5"}',
        "![chart](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk)",
        "password: string;",
        "password = os.environ['DB_PASSWORD']",
        "def login(user, password=None, token: str = ''):",
        "DATABASE_URL=postgres://user:password@localhost/app",
        "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
        "api_key=YOUR_API_KEY_GOES_HERE",
        "my password is wrong, I think",
        "the password is required",
        "the password must be at least 12 characters",
        "max_tokens: 4096, token_count: 123456789012345678",
        'class="sk-some-long-css-class-name-of-a-button"',
        "task-management-and-risk-assessment-for-the-disk",
        "primary_key = Column(Integer)",
        "next_page_token_name: continuation_of_the_listing",
        "hf_transfer and hf_hub_download are functions",
        "AKIAIOSFODNN7EXAMPLE",
        "cvs -d :pserver:anoncvs@sources.redhat.com:/cvs/src login",
        "def tokens(tokenizer: apsw.FTS5Tokenizer, text: str) -> None:",
        'type="win32" publicKeyToken="1fc8b3b9a1e18e3b"',
        "mysql -h db -p shop < shop.sql",
        "mysql -u root -p$DB_PASSWORD shop",
        "curl -u $CI_USER:$CI_PASSWORD https://ci.example.com",
        "sshpass -e ssh me@build",
        "log in with login and password as before",
        "npm publish --token $NPM_TOKEN",
        "password = ':****'",
        "pass: 3, failed: 0, skipped: 12345678",
        "tests_passed: 41of42, pwm=0.75kHz1",
    ],
)
def test_what_only_looks_like_a_secret_is_left(line: str) -> None:
    assert redact(line).counts == {}


def test_ordinary_text_and_code_have_no_secrets() -> None:
    files = [*sorted((corpora() / "rules" / "real").iterdir())][:20]
    files += sorted(Path(__file__).parents[2].joinpath("kmem_desktop").rglob("*.py"))
    false = [
        (file.name, line)
        for file in files
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if redact(line).counts
    ]
    assert false == []


@pytest.mark.parametrize(
    "text", ["", "\u0130" * 50 + "password: q1w2" + "e3r4t5", "x" * 100_000, "token=" * 5000]
)
def test_odd_texts_are_read_to_their_end(text: str) -> None:
    assert isinstance(redact(text).text, str)
