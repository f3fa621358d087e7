"""What embedding models want to stand before questions and before texts."""

import pytest

from kmem_desktop.providers.http.prefixes import Prefixes, prefixes_of

SENTENCE = "Represent this sentence for searching relevant passages: "
TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"


@pytest.mark.parametrize(
    ("model", "question", "text"),
    [
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v1.5-GGUF", "search_query: ", "search_document: "),
        ("mxbai-embed-large", SENTENCE, ""),
        ("bge-large-en-v1.5", SENTENCE, ""),
        ("multilingual-e5-large", "query: ", "passage: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("jeffh/intfloat-multilingual-e5-large-instruct:f16", f"{TASK}Query: ", ""),
        ("snowflake-arctic-embed:335m", SENTENCE, ""),
        ("snowflake-arctic-embed-m-v1.5", SENTENCE, ""),
        ("snowflake-arctic-embed2:568m", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("qwen3-embedding:0.6b", f"{TASK}Query:", ""),
        ("Qwen3_Embedding_0.6B", f"{TASK}Query:", ""),
    ],
)
def test_a_model_gets_the_words_of_its_card(model: str, question: str, text: str) -> None:
    assert prefixes_of(model) == Prefixes(question, text)


@pytest.mark.parametrize(
    "model", ["all-minilm:33m", "bge-m3", "text-embedding-3-small", "gte-base", "typee5-x", ""]
)
def test_a_model_that_wants_nothing_gets_nothing(model: str) -> None:
    assert prefixes_of(model) == Prefixes()
