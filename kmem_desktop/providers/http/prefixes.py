"""What embedding models want to stand before a question and before a text that is searched.

Such models were trained with these words: without them a question is compared as if it were one
more text, and finds less. Servers pass texts on as they get them, so kmem writes them.

References:
    The models' cards: nomic-ai/nomic-embed-text-v1.5, mixedbread-ai/mxbai-embed-large-v1,
    BAAI/bge-large-en-v1.5 and bge-large-zh-v1.5 (bge-m3 wants nothing), intfloat/e5-large-v2 and
    multilingual-e5-large-instruct, Snowflake/snowflake-arctic-embed-l and -l-v2.0,
    google/embeddinggemma-300m, Qwen/Qwen3-Embedding-0.6B.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The words before a text.

    Attributes:
        question: Before what is asked.
        text: Before what is searched.
    """

    question: str = ""
    text: str = ""


_SENTENCE = "Represent this sentence for searching relevant passages: "
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
_NOTHING = Prefixes()

_KNOWN: tuple[tuple[str, Prefixes], ...] = (
    ("nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    ("mxbai-embed", Prefixes(_SENTENCE)),
    ("bge-m3", _NOTHING),
    (r"bge-(small|base|large)-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),  # noqa: RUF001
    (r"bge-(small|base|large)", Prefixes(_SENTENCE)),
    (r"e5-.*instruct", Prefixes(_TASK + "Query: ")),
    (r"(?<![a-z0-9])e5-", Prefixes("query: ", "passage: ")),
    (r"arctic-embed(2|-[a-z]+-v2)", Prefixes("query: ")),
    ("arctic-embed", Prefixes(_SENTENCE)),
    ("embedding-?gemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    ("qwen3-embedding", Prefixes(_TASK + "Query:")),
)
"""By a pattern of the model's name, the narrower before the wider."""


def prefixes_of(model: str) -> Prefixes:
    """Return the words that a model wants; nothing for one that wants none or is not known."""
    name = model.lower().replace("_", "-")
    return next((words for pattern, words in _KNOWN if re.search(pattern, name)), _NOTHING)
