"""What was taken back is known by what a correction quotes, names, moves or is about."""

from kmem_desktop.sessions.reversals import find_reversals
from kmem_desktop.sessions.sentences import passages
from tests.sessions.conversations import PLANNING, said


def test_a_decision_is_taken_back_by_its_label() -> None:
    found = passages(PLANNING)
    (reversal,) = find_reversals(found)
    assert found[reversal.was].text.startswith("**D1** Redis")
    assert found[reversal.now].text.startswith("No on D1.")


def test_a_quoted_statement_is_taken_back() -> None:
    found = passages(
        said(
            (
                "assistant",
                "The export reads the raw transcript and parses it. All else is the same.",
            ),
            ("user", '"The export reads the raw transcript and parses it" is wrong.'),
            ("user", "The export reads the stored session data."),
        )
    )
    (reversal,) = find_reversals(found)
    assert reversal.was == 0
    assert found[reversal.now].text == "The export reads the stored session data."


def test_a_path_that_was_meant_differently_is_taken_back() -> None:
    found = passages(
        said(
            ("user", "Start a document at ./docs/PLAN.md please."),
            ("assistant", "The stub is created at `./docs/PLAN.md`."),
            ("user", "I meant ./backend/docs/PLAN.md, so I moved it there."),
        )
    )
    (reversal,) = find_reversals(found)
    assert reversal.superseded >= {0, 1}


def test_a_correction_by_other_words_finds_what_was_said_about_the_same() -> None:
    found = passages(
        said(
            ("assistant", "The worker fetches the session blob from Postgres."),
            (
                "user",
                "We won't fetch the session blob from Postgres, the worker streams it from S3.",
            ),
        )
    )
    (reversal,) = find_reversals(found)
    assert (reversal.was, reversal.now) == (0, 1)


def test_a_plain_no_takes_nothing_back() -> None:
    turns = said(
        ("assistant", "The linter reports three issues in parser.go."),
        ("user", "no, I still get errors"),
        ("assistant", "There were three more in lexer.go."),
    )
    assert find_reversals(passages(turns)) == []


def test_what_an_assistant_says_takes_nothing_back() -> None:
    turns = said(
        ("user", "Use the Redis cache for the invoice pages."),
        ("assistant", "No. The Redis cache for the invoice pages is wrong."),
    )
    assert find_reversals(passages(turns)) == []


DONE = (
    ("user", "Please split the pipeline into jobs."),
    (
        "assistant",
        "The pipeline is now split into a build job and a publish job."
        " Each job runs on its own machine.",
    ),
)


def test_what_was_done_last_is_taken_back_by_undoing_it() -> None:
    found = passages(said(*DONE, ("user", "never mind, I undid your changes for now.")))
    (reversal,) = find_reversals(found)
    assert reversal.superseded == {1, 2}
    assert (reversal.was, reversal.now) == (1, 3)


def test_what_was_undone_by_mistake_still_holds() -> None:
    found = passages(said(*DONE, ("user", "Never mind, I undid your changes by mistake.")))
    assert find_reversals(found) == []


def test_a_guess_that_something_is_wrong_takes_nothing_back() -> None:
    turns = said(
        ("assistant", "The importer reads the ledger path from the settings file."),
        ("user", "Maybe the ledger path in the settings file of the importer is wrong."),
    )
    assert find_reversals(passages(turns)) == []
