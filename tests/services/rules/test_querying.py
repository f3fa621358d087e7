import asyncio

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.models import Detected, Diagnostics, Failure, FallbackReason
from kmem_desktop.domain.rule_library import RuleQuery, SubmittedDocument
from kmem_desktop.domain.rules import Layer, RuleStatus, Severity, TaskContext
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.services.rules.detecting import ModelDetector
from tests.services.rules.conftest import API_RULES, DATABASE_RULES

ENDPOINT = "Add an endpoint that validates the body of the request"


async def fill(services: Services, origin: Origin) -> None:
    documents = [
        SubmittedDocument("rules/api.md", API_RULES),
        SubmittedDocument("rules/database.md", DATABASE_RULES),
    ]
    report = await services.rules.ingestion.upsert(documents, origin)
    assert report.errors == ()


async def test_a_task_gets_the_directives_that_matter_with_their_source(
    services: Services, you: Origin
) -> None:
    await fill(services, you)
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    best = answer.citations[0]
    assert "validate the body" in best.text
    assert (best.path, best.line, best.severity) == ("rules/api.md", 3, "MUST")
    assert "rules/api.md:3" in answer.block
    assert answer.context.layer is Layer.APPLICATION
    assert not any("migration" in each.text for each in answer.citations)
    assert (answer.searched, answer.selected) == (5, len(answer.citations))


async def test_what_is_proposed_comes_after_what_is_approved_and_says_so(
    services: Services, you: Origin, origin: Origin
) -> None:
    await fill(services, you)
    proposed = SubmittedDocument("more.md", "- You MUST validate the body of a request twice.\n")
    await services.rules.ingestion.upsert([proposed], origin)
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert [each.status for each in answer.citations][-1] is RuleStatus.PROPOSED
    assert answer.block.index("not yet approved") > answer.block.index("Key Directives")


async def test_however_much_was_rejected_the_others_are_still_found(
    services: Services, you: Origin
) -> None:
    many = "".join(
        f"- Validate the body of the request of an added endpoint {n}.\n" for n in range(300)
    )
    await services.rules.ingestion.upsert([SubmittedDocument("many.md", many)], you)
    (rule,) = await services.rules.library.rules()
    stored = await services.rules.library.directives(rule.id)
    rejected = [each.id for each in stored]
    await services.rules.library.set_status(rejected, RuleStatus.REJECTED, you)
    await fill(services, you)
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert answer.citations[0].path == "rules/api.md"


async def test_what_is_proposed_is_kept_back_where_a_person_wants_that(
    services: Services, origin: Origin
) -> None:
    await fill(services, origin)
    assert (await services.rules.queries.query(RuleQuery(ENDPOINT))).citations
    SettingsFile(services.paths.settings).change(hands_out_proposed_rules=False)
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert answer.citations == ()


async def test_what_was_rejected_is_not_handed_out(services: Services, you: Origin) -> None:
    await fill(services, you)
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    first = int(answer.citations[0].id)
    await services.rules.library.set_status([first], RuleStatus.REJECTED, you)
    again = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert str(first) not in [each.id for each in again.citations]


async def test_a_changed_rule_is_in_the_next_answer(services: Services, you: Origin) -> None:
    await fill(services, you)
    await services.rules.queries.query(RuleQuery(ENDPOINT))
    more = SubmittedDocument("more.md", "- Never validate the body of a request by hand.\n")
    await services.rules.ingestion.upsert([more], you)
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert any("by hand" in each.text for each in answer.citations)


async def test_a_projects_rules_stay_in_their_project(services: Services, you: Origin) -> None:
    rules = [SubmittedDocument("AGENTS.md", API_RULES)]
    await services.rules.ingestion.upsert(rules, you, scope="project:shopfront")
    here = await services.rules.queries.query(RuleQuery(ENDPOINT, scope="project:shopfront"))
    elsewhere = await services.rules.queries.query(RuleQuery(ENDPOINT, scope="project:other"))
    assert here.citations
    assert (elsewhere.searched, elsewhere.fallback) == (0, "no_rules")


async def test_without_rules_the_baseline_is_handed_out_and_called_that(
    services: Services,
) -> None:
    answer = await services.rules.queries.query(RuleQuery("Read a file that a user uploads"))
    assert answer.fallback == "no_rules"
    assert {each.rule for each in answer.citations} == {"Baseline rules"}
    assert answer.searched == 0


async def test_only_the_wanted_severities_are_shown(services: Services, you: Origin) -> None:
    await fill(services, you)
    query = RuleQuery(ENDPOINT, severities=(Severity.SHOULD,))
    answer = await services.rules.queries.query(query)
    assert {each.severity for each in answer.citations} <= {"SHOULD"}


async def test_signs_of_a_search_in_a_task_are_only_words(services: Services, you: Origin) -> None:
    await fill(services, you)
    task = 'validate -body of "every request tag:x scope:nowhere before:1999'
    answer = await services.rules.queries.query(RuleQuery(task))
    assert answer.citations


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (RuleQuery(""), "taskDescription"),
        (RuleQuery("x" * 8_001), "taskDescription"),
        (RuleQuery("x", max_items=0), "maxItems"),
        (RuleQuery("x", token_budget=1), "tokenBudget"),
        (RuleQuery("x", mode="poet"), "modeSlug"),
    ],
)
async def test_a_query_out_of_its_limits_is_refused(
    services: Services, query: RuleQuery, field: str
) -> None:
    with pytest.raises(InvalidInputError, match=field):
        await services.rules.queries.query(query)


def saying(confidence: float) -> ModelDetector:
    async def model(task: str, *, deadline_s: float) -> Detected:
        context = TaskContext(
            Layer.PERSISTENCE, confidence=confidence, method="model", model="small"
        )
        return Detected(context)

    return model


def silent(diagnostics: Diagnostics) -> ModelDetector:
    async def model(task: str, *, deadline_s: float) -> Detected:
        return Detected(None, diagnostics)

    return model


async def test_a_sure_model_is_believed(services: Services, you: Origin) -> None:
    await fill(services, you)
    services.rules.detector.use_model(saying(0.9))
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert (answer.context.layer, answer.context.model) == (Layer.PERSISTENCE, "small")


async def test_a_model_that_is_not_sure_is_not_believed(services: Services, you: Origin) -> None:
    await fill(services, you)
    services.rules.detector.use_model(saying(0.6))
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert (answer.context.layer, answer.fallback) == (Layer.APPLICATION, "low_confidence")


@pytest.mark.parametrize(
    ("diagnostics", "fallback"),
    [
        (Diagnostics(fallback=FallbackReason.QUERY_TIMEOUT), "query_timeout"),
        (
            Diagnostics(
                fallback=FallbackReason.MODEL_PROVIDER_UNAVAILABLE,
                failures=(Failure("ollama", "small", "server_error", "It fell over."),),
            ),
            "model_provider_unavailable",
        ),
        (
            Diagnostics(fallback=FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
            "embedding_unavailable",  # that no model is installed is no news
        ),
    ],
)
async def test_a_model_that_says_nothing_is_done_without_and_told(
    services: Services, you: Origin, diagnostics: Diagnostics, fallback: str
) -> None:
    await fill(services, you)
    services.rules.detector.use_model(silent(diagnostics))
    answer = await services.rules.queries.query(RuleQuery(ENDPOINT))
    assert answer.citations
    assert answer.fallback == fallback


async def test_many_ask_at_once(services: Services, you: Origin) -> None:
    await fill(services, you)
    tasks = [RuleQuery(f"{ENDPOINT} {number}") for number in range(10)]
    answers = await asyncio.gather(*(services.rules.queries.query(task) for task in tasks))
    assert all(answer.citations for answer in answers)
