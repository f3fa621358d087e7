import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kmem_desktop.domain.rules import TOPICS, Layer, TaskContext
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.rules.detection import (
    Head,
    detect,
    directive_text,
    load_head,
    traits,
    traits_size,
)

ROOT = Path(__file__).parents[2]
HEAD_FILE = ROOT / "resources" / "detection" / "head.json"

EXAMPLES = [
    ("Add a login button to the header", Layer.PRESENTATION),
    ("Add user registration API endpoint", Layer.APPLICATION),
    ("An invoice that was paid must not go back to draft", Layer.DOMAIN),
    ("Add user table with email validation", Layer.PERSISTENCE),
    ("Write unit tests for the parser of dates", Layer.TESTS),
    ("Describe the new flags in the README", Layer.DOCS),
    ("Push the image to the registry when a tag is made", Layer.DEPLOYMENT),
]
BORDERS = [
    ("Test that fails when a page needs more than five SQL statements", Layer.TESTS),
    ("Docs: how to deploy with Helm", Layer.DOCS),
    ("Sign and notarise the desktop app in the release job", Layer.DEPLOYMENT),
    ("The single page app should drop its access token when it gets a 401", Layer.PRESENTATION),
    ("The list shows the customer's balance in the wrong colour", Layer.PRESENTATION),
]


@cache
def head() -> Head:
    return load_head(HEAD_FILE)


@cache
def model() -> EmbeddedModel:
    return EmbeddedModel(ROOT / "resources" / "embedding")


def told(text: str) -> TaskContext:
    """Detect with the embedding."""
    return detect(text, model().embed([text])[0], head())


def told_by_words(text: str) -> TaskContext:
    return detect(text, None, head())


@pytest.mark.parametrize(("text", "layer"), EXAMPLES + BORDERS)
def test_a_task_is_put_where_the_change_would_be_made(text: str, layer: Layer) -> None:
    assert told(text).layer is layer


@pytest.mark.parametrize(("text", "layer"), EXAMPLES)
def test_words_alone_tell_the_plain_cases(text: str, layer: Layer) -> None:
    found = told_by_words(text)
    assert (found.layer, found.method, found.model) == (layer, "words", "")


@pytest.mark.parametrize("text", [EXAMPLES[0][0], EXAMPLES[3][0]])
def test_the_seeds_examples_are_told_with_confidence(text: str) -> None:
    assert told(text).confidence > 0.7


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("Lock the account after five failed logins", {"security"}),
        ("Missing index makes the query on the orders table slow", {"database", "performance"}),
        ("GET /orders needs a cursor parameter", {"api"}),
        ("Write tests for the date parser", {"testing"}),
        ("The menu covers the text on small screens", {"frontend"}),
        ("Fix a typo in the installation guide", set()),
    ],
)
def test_topics_are_what_the_task_is_about(text: str, topics: set[str]) -> None:
    found = set(told(text).topics)
    assert topics <= found
    assert found - topics <= {"backend"}


def test_the_method_names_the_model_whose_vector_was_used() -> None:
    found = told("Add an index")
    assert (found.method, found.model) == ("embedding", EmbeddedModel.name)


def test_the_alternatives_are_other_layers_surest_first() -> None:
    found = told("Cache the answers of the catalogue endpoint in Redis")
    shares = [share for _, share in found.alternatives]
    assert shares == sorted(shares, reverse=True)
    assert found.layer not in dict(found.alternatives)
    assert found.confidence + sum(shares) <= 1.0001
    assert all(found.confidence >= share for share in shares)


@pytest.mark.parametrize(
    "text", ["", "   \n", "asdf jkl", "Hello", "What is the weather?", "!!!", "\x00\ud800", "🙂"]
)
@pytest.mark.parametrize("detector", [told, told_by_words])
def test_what_is_no_task_leaves_the_layer_open(text: str, detector) -> None:
    found = detector(text)
    assert (found.layer, found.topics, found.method) == (Layer.ANY, (), "default")
    assert found.confidence <= 0.2


@pytest.mark.parametrize(
    ("text", "layer"),
    [
        ("Neue Spalte in der Tabelle, die Migration schlägt fehl", Layer.PERSISTENCE),
        ("Añade un índice a la tabla de pedidos", Layer.PERSISTENCE),
        ("为登录页面添加按钮", Layer.PRESENTATION),
        ("データベースのクエリが遅い", Layer.PERSISTENCE),
        ("결제 모듈의 테스트 작성", Layer.TESTS),
    ],
)
@pytest.mark.parametrize("detector", [told, told_by_words])
def test_other_languages_are_told_by_their_words(text: str, layer: Layer, detector) -> None:
    assert detector(text).layer is layer


def test_a_vector_of_another_model_is_not_used() -> None:
    vector = np.ones(768, np.float32)
    assert detect("Add an index", vector, head()) == told_by_words("Add an index")


def test_technologies_and_keywords_are_named() -> None:
    found = told("Add an index to the orders table in postgres")
    assert found.technologies == ("PostgreSQL",)
    assert {"index", "orders", "table"} <= set(found.keywords)


def test_the_same_task_is_told_the_same_way_each_time() -> None:
    assert told("Add an index") == told("Add an index")


def test_words_alone_need_no_numpy() -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from kmem_desktop.rules.detection import detect, load_head;"
        f"found = detect('Add a button', None, load_head(Path({str(HEAD_FILE)!r})));"
        "assert found.layer == 'presentation'; assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_a_file_that_is_no_head_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "head.json"
    path.write_text('{"words": {}}', encoding="utf-8")
    with pytest.raises(ValueError, match="no detection head"):
        load_head(path)


def test_a_head_of_an_older_vocabulary_still_tells(tmp_path: Path) -> None:
    text = HEAD_FILE.read_text(encoding="utf-8").replace('"fuzzing"', '"a concept of old"')
    path = tmp_path / "head.json"
    path.write_text(text, encoding="utf-8")
    found = detect("Add an index", model().embed(["Add an index"])[0], load_head(path))
    assert found.layer is Layer.PERSISTENCE


def test_traits_are_shares_and_have_their_size() -> None:
    found = traits("Add an index", model().embed(["Add an index"])[0], head())
    assert found.shape == (traits_size(),)
    assert found.dtype == np.float32
    assert 0 <= found.min() <= found.max() <= 1


def test_a_directive_is_placed_by_the_last_heading_of_its_path() -> None:
    assert (
        directive_text("API", "Rules > Errors", "Answer\n briefly.")
        == "API. Errors. Answer briefly."
    )


@cache
def sentences() -> str:
    return (ROOT / "packaging" / "detection_sentences.txt").read_text(encoding="utf-8")


def test_the_sentences_are_labelled_with_known_layers_and_topics_only() -> None:
    layers = re.findall(r"^## (\S+)$", sentences(), re.MULTILINE)
    assert layers == [layer.value for layer in Layer]
    labels = {
        word.removeprefix("+").removesuffix("?")
        for line in sentences().splitlines()
        if " | " in line and not line.startswith("#")
        for word in line.split(" | ", 1)[0].split()
    }
    assert labels <= {*TOPICS, *layers, "-"}


def test_no_sentence_stands_there_twice() -> None:
    texts = [
        line.split(" | ", 1)[1].casefold() for line in sentences().splitlines() if " | " in line
    ]
    assert len(texts) == len(set(texts))


def test_the_head_is_what_the_sentences_make() -> None:
    done = subprocess.run(
        [sys.executable, "packaging/build_detection.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
