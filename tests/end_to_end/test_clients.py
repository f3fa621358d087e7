"""The command lines of real clients against `kmem mcp`.

Run where these programs are in the cache already; `-m clients` with KMEM_TEST_INSTALL=1 installs
them from the npm registry first (Claude Code has some 250 MB).
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.programs import Memory, clean_environment, npm_is_cached, npm_program

INSPECTOR = ("@modelcontextprotocol/inspector@0.15.0", "mcp-inspector")  # the last for Node 20
CLAUDE_CODE = ("@anthropic-ai/claude-code@2.1.330", "claude")
TIMEOUT_S = 120.0

pytestmark = pytest.mark.clients


def program(package: str, executable: str) -> list[str]:
    if not npm_is_cached(package, executable) and "KMEM_TEST_INSTALL" not in os.environ:
        pytest.skip(f"{package} is not installed: set KMEM_TEST_INSTALL=1 to install it from npm")
    return npm_program(package, executable)


def run(command: list[str], **variables: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=clean_environment(**variables),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_inspector_lists_and_calls_the_tools(memory: Memory) -> None:
    inspect = [*program(*INSPECTOR), "--cli", *memory.command("mcp")]
    listed = json.loads(run([*inspect, "--method", "tools/list"]))
    assert [tool["name"] for tool in listed["tools"]][:2] == ["create_entities", "create_relations"]
    assert all(re.fullmatch(r"[a-zA-Z0-9_]{1,40}", tool["name"]) for tool in listed["tools"])
    entities = '[{"name":"Ada","entityType":"person","observations":["likes tea"]}]'
    call = [*inspect, "--method", "tools/call", "--tool-name", "create_entities"]
    run([*call, "--tool-arg", f"entities={entities}"])
    search = [*inspect, "--method", "tools/call", "--tool-name", "search_nodes"]
    found = json.loads(run([*search, "--tool-arg", "query=tea"]))
    assert found["structuredContent"]["entities"][0]["name"] == "Ada"
    read = [*inspect, "--method", "resources/read", "--uri", "memory://knowledge-graph"]
    assert "likes tea" in run(read)


def test_the_inspector_gets_prompts_resources_and_the_library(memory: Memory) -> None:
    inspect = [*program(*INSPECTOR), "--cli", *memory.command("mcp", "--tools", "all")]

    def ask(method: str, *options: str) -> Any:
        return json.loads(run([*inspect, "--method", method, *options]))

    def call(tool: str, **arguments: str) -> Any:
        given = [part for pair in arguments.items() for part in ("--tool-arg", "=".join(pair))]
        answer = ask("tools/call", "--tool-name", tool, *given)
        assert not answer.get("isError"), answer
        return answer["structuredContent"]

    said = call("add_exchange", question="Which database?", answer="PostgreSQL.", title="A store")
    session = said["session_id"]
    saved = call("save_knowledge", content="Use PostgreSQL.", type="decision", tags='["db"]')
    assert [prompt["name"] for prompt in ask("prompts/list")["prompts"]] == [
        "resume",
        "recall",
        "decide",
    ]
    for name, argument in (
        ("resume", "conversation=a store"),
        ("recall", "question=database PostgreSQL"),
        ("decide", "decision=Use PostgreSQL"),
    ):
        got = ask("prompts/get", "--prompt-name", name, "--prompt-args", argument)
        assert "PostgreSQL" in got["messages"][0]["content"]["text"], name
    uris = [resource["uri"] for resource in ask("resources/list")["resources"]]
    assert uris[1:] == [f"kmem://session/{session}", f"kmem://knowledge/{saved['id']}"]
    for uri in uris[1:]:
        (contents,) = ask("resources/read", "--uri", uri)["contents"]
        assert "PostgreSQL." in contents["text"]
    templates = ask("resources/templates/list")["resourceTemplates"]
    assert [each["name"] for each in templates] == ["session", "knowledge"]

    assert call("archive_session", session_id=session)["status"] == "archived"
    exported = call("export_knowledge", format="json")
    assert call("import_knowledge", content=exported["text"])["already_there"] == {"knowledge": 1}
    assert call("analyze_knowledge")["totals"]["knowledge"] == 1
    assert call("manage_tags", action="rename", tags='["db"]', to="store")["items_changed"] == 1
    drawn = call("visualize_knowledge_graph", center=str(saved["entry_id"]))
    assert "Use PostgreSQL." in drawn["mermaid"]


def test_claude_code_connects(memory: Memory, tmp_path: Path) -> None:
    claude = program(*CLAUDE_CODE)
    home = tmp_path / "claude"
    home.mkdir()
    variables = {"CLAUDE_CONFIG_DIR": str(home), "DISABLE_AUTOUPDATER": "1"}
    run([*claude, "mcp", "add", "-s", "user", "kmem", "--", *memory.command("mcp")], **variables)
    listed = run([*claude, "mcp", "list"], **variables)
    assert "kmem" in listed
    assert "Connected" in listed
    status = memory.status()
    assert status is not None
