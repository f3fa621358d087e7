"""What serves each purpose, and what can be chosen for it."""

from dataclasses import replace

from kmem_desktop.domain.models import (
    ELSEWHERE,
    OFF,
    Choice,
    ModelInfo,
    ModelKind,
    Program,
    ProgramKind,
    ProviderReport,
    Purpose,
    Snapshot,
    Use,
)
from kmem_desktop.services.models.offers import MOST_OFFERED, hints_of, offers_of, use_of

CHAT = ModelInfo("llama3.2:3b", ModelKind.CHAT, parameter_count=3_000_000_000, is_loaded=True)
EMBED = ModelInfo("nomic-embed-text", ModelKind.EMBEDDING)
OLLAMA = ProviderReport("ollama", "Ollama", "", is_available=True, models=(CHAT, EMBED))
FAR = ProviderReport("openai", "OpenAI", "", host="api.openai.com", problem="Off.")
NEAR = Snapshot(providers=(OLLAMA, FAR))


def test_what_nobody_chose_is_served_by_the_best_that_is_there() -> None:
    assert use_of(Purpose.CHAT, Choice(), NEAR) == Use(Choice(), "Ollama", "llama3.2:3b")
    assert use_of(Purpose.DETECTION, Choice(), NEAR).model == "llama3.2:3b"
    assert use_of(Purpose.EMBEDDINGS, Choice(), NEAR) == Use(Choice())
    assert use_of(Purpose.CHAT, Choice(), Snapshot()) == Use(Choice())
    assert use_of(Purpose.CHAT, Choice(OFF), NEAR) == Use(Choice(OFF))


def test_what_was_chosen_and_does_not_answer_is_named_with_the_reason() -> None:
    choice = Choice("openai", "gpt-5", "api.openai.com")
    use = use_of(Purpose.CHAT, choice, NEAR)
    assert (use.provider, use.host, use.problem) == ("OpenAI", "api.openai.com", "Off.")
    gone = use_of(Purpose.CHAT, Choice("mine"), NEAR)
    assert "no provider named mine" in gone.problem


def test_only_what_can_serve_a_purpose_is_offered_for_it() -> None:
    chat, embed = (offers_of(p, NEAR, ()) for p in (Purpose.CHAT, Purpose.EMBEDDINGS))
    assert [str(each.choice) for each in chat] == ["ollama:llama3.2:3b"]
    assert [str(each.choice) for each in embed] == ["ollama:nomic-embed-text"]


def test_a_far_provider_is_offered_with_its_host_once_it_has_a_key() -> None:
    offers = offers_of(Purpose.CHAT, NEAR, ["openai"])
    assert [str(each.choice) for each in offers] == ["ollama:llama3.2:3b", "openai"]
    assert offers[1].choice.send_to == "api.openai.com"


def test_where_a_model_really_runs_is_part_of_the_offer() -> None:
    proxy = replace(OLLAMA, models=(replace(CHAT, remote_host=ELSEWHERE),))
    (offer,) = offers_of(Purpose.CHAT, Snapshot(providers=(proxy,)), ())
    assert offer.choice.send_to == ELSEWHERE
    assert use_of(Purpose.CHAT, offer.choice, Snapshot(providers=(proxy,))).host == ELSEWHERE


def test_of_hundreds_only_the_best_are_offered() -> None:
    many = tuple(replace(CHAT, name=f"m{number}") for number in range(300))
    found = Snapshot(providers=(replace(OLLAMA, models=many),))
    assert len(offers_of(Purpose.CHAT, found, ())) == MOST_OFFERED


def test_a_hint_has_the_exact_command() -> None:
    empty = replace(OLLAMA, models=())
    program = Program(ProgramKind.LM_STUDIO, "LM Studio", is_installed=True, command=("lms",))
    commands = [hint.command for hint in hints_of([empty], [program])]
    assert commands == [
        "kmem models start lm-studio",
        "ollama pull llama3.2:3b",
        "ollama pull nomic-embed-text",
    ]
    assert hints_of([OLLAMA], []) == ()


def test_a_model_that_runs_elsewhere_does_not_spare_a_local_one() -> None:
    proxy = replace(OLLAMA, models=(replace(CHAT, remote_host=ELSEWHERE), EMBED))
    assert [hint.command for hint in hints_of([proxy], [])] == ["ollama pull llama3.2:3b"]
