"""Hostile rule files that nobody of this project wrote; skipped where the corpora are not."""

import asyncio
import json
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.rule_library import IngestionReport, RuleQuery, SubmittedDocument

PWNED = Path("/tmp/kmem-pwned")


def cases(folder: Path) -> list[tuple[Path, str]]:
    lines = (folder / "expectations.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines if line.strip()]
    return [
        (folder / case["file"], case["expect"])
        for case in found
        if case["file"].endswith((".md", ".mdc"))
    ]


async def take(services: Services, file: Path, you: Origin) -> IngestionReport:
    return await services.rules.ingestion.upsert([SubmittedDocument(str(file))], you)


async def test_every_bad_document_is_taken_or_told_and_the_memory_goes_on(
    services: Services, you: Origin, bad_input: Path
) -> None:
    for file, expected in cases(bad_input):
        report = await take(services, file, you)
        assert report.rules + len(report.errors) == 1, file
        if expected == "warn":
            assert (report.directives, bool(report.warnings)) == (0, True), file
        if expected == "accept":
            assert not report.errors, file
    assert not await asyncio.to_thread(PWNED.exists)
    rules = await services.rules.library.rules()
    assert len(rules) > 10
    health = await services.maintenance.check()
    assert health.is_whole
    await services.rules.queries.query(RuleQuery("Validate what a user enters"))


async def test_a_document_with_a_nul_is_kept_to_its_end(
    services: Services, you: Origin, tmp_path: Path
) -> None:
    file = tmp_path / "nul.md"
    file.write_bytes(b"- Never trust \0 input.\n- Always close the zebrafish handle.\n")
    report = await take(services, file, you)
    assert report.directives == 2
    answer = await services.rules.queries.query(RuleQuery("close the zebrafish handle"))
    assert "zebrafish" in answer.citations[0].text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
async def test_a_document_is_read_in_what_it_was_written(
    services: Services, you: Origin, tmp_path: Path, encoding: str
) -> None:
    file = tmp_path / "encoded.md"
    file.write_bytes("- Never rename the café table.\n".encode(encoding))
    await take(services, file, you)
    (rule,) = await services.rules.library.rules()
    (directive,) = await services.rules.library.directives(rule.id)
    assert directive.directive.text.startswith("Never rename the caf")
    assert not directive.directive.text.startswith("\ufeff")
