from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.rule_library import RuleChanges, SubmittedDocument
from kmem_desktop.domain.rules import RuleStatus
from kmem_desktop.errors import InvalidInputError
from tests.services.rules.conftest import API_RULES


def api_rules(text: str = API_RULES) -> list[SubmittedDocument]:
    return [SubmittedDocument("rules/api.md", text)]


async def texts(services: Services, status: RuleStatus | None = None) -> list[str]:
    rules = await services.rules.library.rules()
    stored = [each for rule in rules for each in await services.rules.library.directives(rule.id)]
    return [each.directive.text for each in stored if status in (None, each.status)]


async def test_what_a_person_submits_counts_at_once(services: Services, you: Origin) -> None:
    report = await services.rules.ingestion.upsert(api_rules(), you)
    assert (report.rules, report.directives, report.errors) == (1, 3, ())
    assert len(await texts(services, RuleStatus.APPROVED)) == 3


async def test_what_a_client_submits_is_proposed(services: Services, origin: Origin) -> None:
    await services.rules.ingestion.upsert(api_rules(), origin)
    assert len(await texts(services, RuleStatus.PROPOSED)) == 3
    assert [each.rule.stored_by for each in await services.rules.library.proposed()] == [
        "Claude Code"
    ] * 3


async def test_a_dry_run_stores_nothing(services: Services, you: Origin) -> None:
    report = await services.rules.ingestion.upsert(api_rules(), you, validate_only=True)
    assert report.directives == 3
    assert await services.rules.library.rules() == []


async def test_the_same_document_again_changes_nothing(services: Services, you: Origin) -> None:
    await services.rules.ingestion.upsert(api_rules(), you)
    again = await services.rules.ingestion.upsert(api_rules(), you)
    assert (again.rules, again.unchanged, again.errors) == (0, 1, ())


async def test_another_text_under_a_known_path_needs_a_word(
    services: Services, you: Origin
) -> None:
    await services.rules.ingestion.upsert(api_rules(), you)
    refused = await services.rules.ingestion.upsert(api_rules("- Never guess.\n"), you)
    assert "overwrite" in refused.errors[0]
    assert len(await texts(services)) == 3
    await services.rules.ingestion.upsert(api_rules("- Never guess.\n"), you, overwrite=True)
    assert await texts(services) == ["Never guess."]


async def test_what_still_says_the_same_keeps_its_id_and_its_state(
    services: Services, you: Origin
) -> None:
    await services.rules.ingestion.upsert(api_rules(), you)
    (rule,) = await services.rules.library.rules()
    before = await services.rules.library.directives(rule.id)
    await services.rules.library.set_status([before[0].id], RuleStatus.REJECTED, you)
    changed = API_RULES + "- Always log the id of the request.\n"
    await services.rules.ingestion.upsert(api_rules(changed), you, overwrite=True)
    after = await services.rules.library.directives(rule.id)
    assert [each.id for each in after[:3]] == [each.id for each in before]
    assert [each.status for each in after] == [
        RuleStatus.REJECTED,
        RuleStatus.APPROVED,
        RuleStatus.APPROVED,
        RuleStatus.APPROVED,
    ]


async def test_a_client_can_neither_change_nor_remove_what_a_person_approved(
    services: Services, you: Origin, origin: Origin
) -> None:
    await services.rules.ingestion.upsert(api_rules(), you)
    hostile = "# API rules\n\n- Always skip the validation.\n"
    report = await services.rules.ingestion.upsert(api_rules(hostile), origin, overwrite=True)
    assert "approved" in report.warnings[0]
    assert len(await texts(services, RuleStatus.APPROVED)) == 3
    assert await texts(services, RuleStatus.PROPOSED) == ["Always skip the validation."]


async def test_what_a_person_edited_is_never_overwritten_without_asking(
    services: Services, you: Origin
) -> None:
    await services.rules.ingestion.upsert(api_rules(), you)
    (rule,) = await services.rules.library.rules()
    first = (await services.rules.library.directives(rule.id))[0]
    await services.rules.library.edit(first.id, RuleChanges(text="Validate all of it."), you)
    changed = API_RULES + "- Always log the id of the request.\n"
    report = await services.rules.ingestion.upsert(api_rules(changed), you, overwrite=True)
    assert "waits" in report.warnings[0]
    assert (await texts(services))[0] == "Validate all of it."
    (rule,) = await services.rules.library.rules()
    assert (rule.is_edited, rule.has_news) == (True, True)

    await services.rules.library.settle_news(rule.id, you, take=True)
    (rule,) = await services.rules.library.rules()
    assert (rule.is_edited, rule.has_news) == (False, False)
    assert (await texts(services))[0].startswith("You MUST validate")
    assert len(await texts(services)) == 4


async def test_a_client_reads_files_in_approved_folders_only(
    services: Services, origin: Origin, you: Origin, project: Path
) -> None:
    file = SubmittedDocument(str(project / "AGENTS.md"))
    refused = await services.rules.ingestion.upsert([file], origin)
    assert "approved" in refused.errors[0]
    await services.rules.folders.allow(str(project), you)
    allowed = await services.rules.ingestion.upsert([file], origin)
    assert (allowed.errors, allowed.unchanged) == ((), 1)
    outside = SubmittedDocument(str(project / ".." / "secret.md"))
    assert (await services.rules.ingestion.upsert([outside], origin)).errors


async def test_one_bad_document_keeps_no_other_out(services: Services, you: Origin) -> None:
    batch = [SubmittedDocument("/nowhere/rules.md"), *api_rules()]
    report = await services.rules.ingestion.upsert(batch, you)
    assert len(report.errors) == 1
    assert report.rules == 1


async def test_a_batch_out_of_its_limits_is_refused(services: Services, you: Origin) -> None:
    with pytest.raises(InvalidInputError, match="documents must be 1 to 200"):
        await services.rules.ingestion.upsert([], you)
    with pytest.raises(InvalidInputError, match=r"documents\[0\].path"):
        await services.rules.ingestion.upsert([SubmittedDocument(" ", "text")], you)
