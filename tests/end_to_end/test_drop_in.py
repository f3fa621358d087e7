"""The same dialogue with the npm reference memory server and with ours, compared answer by answer.

What differs is listed here with its reason, and asserted too.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.programs import (
    NPM_REFERENCE,
    Memory,
    Message,
    StdioClient,
    npm_program,
)

TEA, CAFE = "likes tea", 'café ☕ 漢字 😀 "quoted" back\\slash\nnew line'
ADA = {"name": "Ada", "entityType": "person", "observations": [TEA, CAFE]}
BOB = {"name": "Bob", "entityType": "person", "observations": []}
NOEL = {"name": "Noël 漢字 😀", "entityType": "人", "observations": ["né à Köln"]}
KNOWS = {"from": "Ada", "to": "Bob", "relationType": "knows"}
DANGLING = {"from": "Ada", "to": "Nobody", "relationType": "misses"}

Step = tuple[str, Message]

DIALOGUE: list[Step] = [
    ("read_graph", {}),
    ("create_entities", {"entities": []}),
    ("create_entities", {"entities": [ADA, BOB, NOEL]}),
    ("create_entities", {"entities": [ADA, {**BOB, "observations": ["ignored"]}]}),
    ("create_entities", {"entities": [{**ADA, "name": "ada", "unknown": 1}], "more": True}),
    ("create_relations", {"relations": []}),
    ("create_relations", {"relations": [KNOWS, DANGLING]}),
    ("create_relations", {"relations": [KNOWS, {**KNOWS, "relationType": "likes"}]}),
    ("add_observations", {"observations": []}),
    ("add_observations", {"observations": [{"entityName": "Bob", "contents": ["is 36", TEA]}]}),
    ("add_observations", {"observations": [{"entityName": "Bob", "contents": ["is 36"]}]}),
    ("add_observations", {"observations": [{"entityName": "Bob", "contents": []}]}),
    (
        "add_observations",
        {
            "observations": [
                {"entityName": "Bob", "contents": ["is never kept"]},
                {"entityName": "Nope", "contents": ["x"]},
            ]
        },
    ),
    ("read_graph", {}),
    ("read_graph", {"unknown": 1}),
    ("open_nodes", {"names": []}),
    ("open_nodes", {"names": ["Ada", "Nope"]}),
    ("open_nodes", {"names": ["Bob", "Ada", "Ada"]}),
    ("open_nodes", {"names": ["Nobody"]}),
    ("search_nodes", {"query": "tea"}),
    ("search_nodes", {"query": "TEA"}),
    ("search_nodes", {"query": "Köln"}),
    ("search_nodes", {"query": "漢字"}),
    ("search_nodes", {"query": "zebra"}),
    ("delete_observations", {"deletions": []}),
    (
        "delete_observations",
        {
            "deletions": [
                {"entityName": "Bob", "observations": ["is 36", "nothing"]},
                {"entityName": "Nope", "observations": ["x"]},
            ]
        },
    ),
    ("open_nodes", {"names": ["Bob"]}),
    ("delete_relations", {"relations": []}),
    ("delete_relations", {"relations": [KNOWS, {**KNOWS, "to": "Nope"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": []}),
    ("delete_entities", {"entityNames": ["Ada", "Nope"]}),
    ("read_graph", {}),
    # What is wrong
    ("nope", {}),
    ("create_entities", {}),
    ("create_entities", {"entities": None}),
    ("create_entities", {"entities": "Ada"}),
    ("create_entities", {"entities": [{}]}),
    ("create_entities", {"entities": ["Ada", 1, None, True, []]}),
    ("create_entities", {"entities": [{"name": 1, "entityType": [], "observations": {}}]}),
    ("create_entities", {"entities": [{**ADA, "observations": [1, None]}]}),
    ("create_relations", {"relations": [{"from": "Ada"}]}),
    ("add_observations", {"observations": [{"contents": ["x"]}]}),
    ("delete_entities", {"entityNames": [1.5]}),
    ("delete_observations", {"deletions": [{"entityName": "Bob"}]}),
    ("delete_relations", {}),
    ("search_nodes", {}),
    ("search_nodes", {"query": 5}),
    ("open_nodes", {"names": "Bob"}),
    ("read_graph", {}),
]


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[StdioClient]:
    """The reference server on a file of its own."""
    program = npm_program(NPM_REFERENCE, "mcp-server-memory")
    client = StdioClient(program, {"MEMORY_FILE_PATH": str(tmp_path / "reference.jsonl")})
    client.initialize()
    yield client
    client.close()


@pytest.fixture
def ours(memory: Memory) -> StdioClient:
    """Our server with the nine tools alone."""
    return memory.client("--tools", "graph")


def comparable(result: Message) -> Message:
    """Return what clients and models see of a result."""
    return {
        "isError": bool(result.get("isError")),
        "structuredContent": result.get("structuredContent"),
        "texts": [content["text"] for content in result["content"]],
    }


def finds_as_much(found: Message, expected: Message) -> bool:
    """Tell whether a search of ours has all that the reference server's has.

    Ours comes best first instead of in the order of storing, and may add what is close in meaning.
    """
    ours, theirs = found["structuredContent"], expected["structuredContent"]
    if theirs is None or ours is None:
        return found == expected
    return (
        json.loads(found["texts"][0]) == ours
        and all(entity in ours["entities"] for entity in theirs["entities"])
        and all(relation in ours["relations"] for relation in theirs["relations"])
    )


def test_every_answer_is_the_reference_servers(ours: StdioClient, reference: StdioClient) -> None:
    differences = []
    for number, (tool, arguments) in enumerate(DIALOGUE):
        expected = comparable(reference.call(tool, arguments))
        found = comparable(ours.call(tool, arguments))
        is_search = tool == "search_nodes"
        if not (finds_as_much(found, expected) if is_search else found == expected):
            differences.append(f"{number} {tool} {arguments}\n  {expected}\n  {found}")
    assert not differences, "\n".join(differences)


# Arguments of a search, and the names that the reference server and ours find, with the reason.
SEARCHES: list[tuple[str, list[str], list[str], str]] = [
    ("tea likes", [], ["Ada"], "words are found, not one substring"),
    ("ike", ["Ada"], ["Ada"], "a part of a word is found where no word is"),
    ("who drinks green tea?", [], ["Ada"], "a question is answered by its words"),
    ("Koln", [], ["Noël 漢字 😀"], "accents do not matter"),
    ("", ["Ada", "Bob", "Noël 漢字 😀"], [], "an empty query is no request for everything"),
]


def test_search_finds_words(ours: StdioClient, reference: StdioClient) -> None:
    for client in (reference, ours):
        client.call("create_entities", {"entities": [ADA, BOB, NOEL]})
    for query, theirs, mine, reason in SEARCHES:
        for client, expected in ((reference, theirs), (ours, mine)):
            found = client.call("search_nodes", {"query": query})["structuredContent"]
            names = [one["name"] for one in found["entities"]]
            # What is close in meaning may follow what has the words.
            assert names[: len(expected)] == expected, reason
            assert client is ours or names == expected
            assert query or names == expected


def test_an_entity_named_twice_in_one_call_is_stored_once(
    ours: StdioClient, reference: StdioClient
) -> None:
    """The reference stores both, and then works on the first alone: an accident of its file."""
    for client, count in ((reference, 2), (ours, 1)):
        client.call("create_entities", {"entities": [BOB, BOB]})
        graph = client.call("read_graph", {})["structuredContent"]
        assert len(graph["entities"]) == count


def test_an_observation_given_twice_is_stored_once(
    ours: StdioClient, reference: StdioClient
) -> None:
    """The reference keeps duplicates within one call, but skips them over two."""
    for client, count in ((reference, 2), (ours, 1)):
        client.call("create_entities", {"entities": [{**BOB, "observations": [TEA, TEA]}]})
        (entity,) = client.call("read_graph", {})["structuredContent"]["entities"]
        assert len(entity["observations"]) == count


def test_empty_names_and_texts_are_refused(ours: StdioClient, reference: StdioClient) -> None:
    """What has no name cannot be found, opened or deleted by anyone."""
    for client, is_error in ((reference, False), (ours, True)):
        result = client.call("create_entities", {"entities": [{**BOB, "name": " "}]})
        assert bool(result.get("isError")) is is_error


def test_the_resource_is_the_reference_servers(ours: StdioClient, reference: StdioClient) -> None:
    listed, read = [], []
    for client in (reference, ours):
        client.call("create_entities", {"entities": [ADA]})
        (resource,) = client.request("resources/list", {})["result"]["resources"]
        listed.append({key: resource[key] for key in ("uri", "name", "title", "mimeType")})
        answer = client.request("resources/read", {"uri": resource["uri"]})
        (contents,) = answer["result"]["contents"]
        read.append({**contents, "text": json.loads(contents["text"])})
    assert listed[0] == listed[1]
    assert read[0] == read[1]


def test_a_subscriber_of_the_resource_hears_of_changes_from_both(
    ours: StdioClient, reference: StdioClient
) -> None:
    heard: list[Any] = []
    for client in (reference, ours):
        client.request("resources/subscribe", {"uri": "memory://knowledge-graph"})
        client.call("create_entities", {"entities": [ADA]})
        heard.append(client.notifications.get(timeout=30))
    assert heard[0]["method"] == heard[1]["method"] == "notifications/resources/updated"
    assert heard[0]["params"]["uri"] == heard[1]["params"]["uri"]


def test_the_file_of_the_reference_server_can_be_taken_over(
    memory: Memory, ours: StdioClient, reference: StdioClient, tmp_path: Path
) -> None:
    reference.call("create_entities", {"entities": [ADA, BOB, NOEL]})
    reference.call("create_relations", {"relations": [KNOWS, DANGLING]})
    done = memory.run("import", str(tmp_path / "reference.jsonl"))
    assert done.returncode == 0, done.stderr
    graphs = [client.call("read_graph", {})["structuredContent"] for client in (ours, reference)]
    assert graphs[0] == graphs[1]
