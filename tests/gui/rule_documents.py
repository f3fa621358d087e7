"""The rules of an invented web shop, as its assistants and people would have written them."""

from pathlib import Path

CLAUDE = """\
# Shopfront

Shopfront sells tickets and merchandise. The web part is Django, the worker is plain Python.

## API

- **MUST** Validate every input at the boundary with the shared schema in `schemas/`.
  - Why: Two outages came from a field that only the form had checked.
- **MUST** Return problem details (RFC 9457) for errors, never a bare string.
- **SHOULD** Keep a handler under 40 lines; what is longer belongs into a service.
- **MAY** Offer a change in the mobile API at once where the web has it.

## Style

- Indent with 4 spaces.
- Never use `eval` or `exec` on anything that came from outside.
- Prefer dataclasses over dictionaries for what crosses a function's border.

## Tests

- **MUST** Write a test that fails before the fix of a bug.
- **SHOULD** Name tests as sentences: `test_a_refund_is_never_larger_than_the_payment`.
- Use pytest for all tests, never unittest.
"""

SECURITY = """\
---
description: Accounts, sessions and personal data
applyTo: "src/accounts/**"
---

# Security

## Accounts

- **MUST** Verify a new e-mail address before it replaces the old one.
  - Why: Whoever types a wrong address locks themselves out, and a thief locks the owner out.
  - Example:

    ```python
    change = EmailChange.request(customer, new_address)
    mailer.send_confirmation(change.token, to=new_address)
    ```
- **MUST** Require a fresh sign-in for changes of credentials or contact data.
- **MUST NOT** Tell in an error whether an account exists.

## Personal data

- **SHOULD** Write an audit record for each change of personal data, with actor and time.
- **SHOULD** Keep logs free of e-mail addresses, names and tokens.
- **MUST** Delete an account's data within 30 days after it was closed.
"""

DATABASE = """\
---
description: How the database is changed
globs: migrations/**,src/**/models.py
alwaysApply: false
---

# Database

- Every migration must be reversible, or say in its docstring why it cannot be.
- Never lock `orders` for more than 2 seconds: add columns without defaults, fill them in batches.
- Use PostgreSQL's `SKIP LOCKED` for queues; do not add a second data store.
- Index what a query filters by, and prove it with `EXPLAIN` in the pull request.
- Prices are integers in the smallest unit of their currency.
"""

AGENTS = """\
# For every agent

Old notes from before the move. | They | are | kept |

- Indent with tabs.
- Write commit messages in English, in the present tense.
- Ask before you add a dependency.
- Use unittest for all tests.
"""

PROPOSED = """\
# Templates

- Render e-mail templates with the autoescaping environment only.
- Keep subject lines under 60 characters.
- Send every template through the preview page before it is merged.
"""

FILES = {
    "CLAUDE.md": CLAUDE,
    "AGENTS.md": AGENTS,
    ".github/instructions/security.instructions.md": SECURITY,
    ".cursor/rules/database.mdc": DATABASE,
}


def write_project(folder: Path, name: str = "shopfront") -> Path:
    """Write the project's rule files; return its folder."""
    project = folder / name
    for path, text in FILES.items():
        target = project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return project
