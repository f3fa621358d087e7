"""Instructions in Chinese and Japanese: by what they are known, how binding they are."""

import re

from kmem_desktop.domain.rules import Severity

_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")
_SENTENCE_END = re.compile(r"[。\uff01\uff1f\n]")

_CHINESE_MARKS = {
    "强制": Severity.MUST,
    "必须": Severity.MUST,
    "禁止": Severity.MUST,
    "推荐": Severity.SHOULD,
    "建议": Severity.SHOULD,
    "参考": Severity.MAY,
    "可选": Severity.MAY,
}
_MARK = re.compile(r"【\s*([^】\s]{1,6})\s*】\s*")
_CHINESE = (
    (Severity.MUST, re.compile("必须|务必|禁止|严禁|不得|不允许|一定要|不能|杜绝|切勿|总是|始终")),
    (Severity.MAY, re.compile("可以考虑|可选|可考虑")),
    (
        Severity.SHOULD,
        re.compile(
            "应该|应当|需要|不要|避免|尽量|建议|推荐|优先|请(?!求)|不应|(?:^|\uff0c)应|^(?:使用|保持|遵循|编写)"
        ),
    ),
)
_CHINESE_NOT = re.compile("不要|禁止|严禁|不得|避免|不允许|不能|不应|杜绝|切勿|均不")
_JAPANESE_MUST = re.compile("必ず|常に|必須|絶対に|禁止|なければなり|てはいけ|てはなら")
_JAPANESE_SHOULD = re.compile("ください|べき|推奨|必要があ|望ましい")
_JAPANESE_MAY = re.compile("てもよい|ても構い|検討し")
_JAPANESE_END = re.compile(
    r"(?:ます|ません|ください|こと|べき(?:です|である)?|する|しない|禁止|推奨|必須|いけない|ならない|望ましい)"
    r"\s*(?:\uff08[^\uff08\uff09]*\uff09|\([^()]*\))?\s*[。:\uff1a]?\s*$"
)
_JAPANESE_NOT = re.compile(
    "(?<!なければなり)(?<!てもかまい)(?<!ても構い)ません|しない|禁止|避け|いけない|ないでください"
)
_LABEL = re.compile(
    r"[ \t]*(说明|正例|反例|备注|例|原因|理由|悪い例|良い例)\s*(?:[\uff1a:]"
    r"|(?=\s*[^\uff0c。\uff1a:\s]{0,12}[。\uff1f]))\s*"
)
RATIONALE_LABELS = frozenset(("说明", "原因", "理由", "备注"))
EXAMPLE_LABELS = frozenset(("正例", "例", "良い例"))
ANTI_PATTERN_LABELS = frozenset(("反例", "悪い例"))


def is_eastern(text: str) -> bool:
    """Return whether a text is written in Chinese or Japanese."""
    return bool(_KANA.search(text) or len(_HAN.findall(text)) > 3)


def mark(text: str) -> tuple[Severity, str] | None:
    """Return the severity of a mark as 【强制】 at the start of a text, and what is behind it."""
    match = _MARK.match(text)
    severity = _CHINESE_MARKS.get(match[1]) if match else None
    return (severity, text[match.end() :]) if match and severity else None


def labelled_parts(text: str) -> list[tuple[str, str]]:
    """Split a text at labels as 说明, 正例 and 反例; the label of the first part is empty."""
    parts: list[tuple[str, str]] = []
    label, start = "", 0
    for match in _LABEL.finditer(text):
        if match.start() and text[match.start() - 1] not in "\n \t。":
            continue
        parts.append((label, text[start : match.start()].strip()))
        label, start = match[1], match.end()
    parts.append((label, text[start:].strip()))
    return parts


def severity(text: str, *, is_prose: bool) -> Severity | None:
    """Return how binding a text in Chinese or Japanese is; None when it instructs nobody."""
    if _KANA.search(text):
        return _japanese(text, is_prose=is_prose)
    return next((level for level, words in _CHINESE if words.search(text)), None)


def prohibits(text: str) -> bool:
    """Return whether a text in Chinese or Japanese says what must not be done."""
    first = _SENTENCE_END.split(text.strip(), maxsplit=1)[0]
    if _KANA.search(text):
        return bool(_JAPANESE_NOT.search(first[-14:]))
    clauses = re.split("[\uff0c,\uff1b;]", first, maxsplit=1)
    return bool(_CHINESE_NOT.search(clauses[0]))


def _japanese(text: str, *, is_prose: bool) -> Severity | None:
    first = _SENTENCE_END.split(text.strip(), maxsplit=1)[0]
    if _JAPANESE_MUST.search(first):
        return Severity.MUST
    if _JAPANESE_SHOULD.search(first):
        return Severity.SHOULD
    if _JAPANESE_MAY.search(first):
        return Severity.MAY
    return Severity.SHOULD if not is_prose and _JAPANESE_END.search(first) else None
