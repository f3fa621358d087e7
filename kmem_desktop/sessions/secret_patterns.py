"""The shapes of secrets: each with what it is called, and the letters that give it away.

A pattern is tried only where one of its hints stands in the text, so that text without secrets
costs next to nothing. The shapes are those the services publish for their scanners.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

_PLACEHOLDER = re.compile(
    r"(?i)^(?:x{3,}|.?\*{3,}|\.{3,}|-{3,}|_{3,}|changeme|change[_-]me|example|sample|dummy|test"
    r"|testing|foo(?:bar)?|bar|baz"
    r"|pass(?:word|wd)?|passphrase|secret|token|user(?:name)?|admin|root|none|null|nil|true|false"
    r"|guest|anon(?:ymous|cvs)?"
    r"|undefined|string|str|bytes"
    r"|required|optional|redacted|removed|hidden|masked|todo|tbd|your[_-].*|my[_-]?(?:password"
    r"|secret|token|key)|.*placeholder.*"
    r"|(?:insert|enter|put|add|replace)[_-].*|.*example(?:key)?|.*\.\.\.|abc123|12345678?9?0?)$"
)
_EXPRESSION = re.compile(
    r"[(){}<>$\[\]]|^(?:os|process|env|self|this|config|settings|secrets|request|args|var|local"
    r"|data)\.|::|->|=>|^%|^@"
)
_ATTRIBUTE = re.compile(r"[a-z_]\w{0,30}(?:\.[A-Za-z_]\w{0,30})+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PATH = re.compile(
    r"^(?:\.{0,2}/|~/|[A-Za-z]:\\|https?://)|\.(?:py|js|ts|go|rs|md|json|ya?ml|toml|pem|txt|env"
    r"|html|css)$"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_A_PASSWORD = _words(
    """wrong required correct incorrect invalid valid missing empty blank weak strong secure
    insecure different visible unknown optional
    encrypted plain plaintext always never still also already about above using
    because should really exactly something nothing anything important
    needed unset public private simple default"""
)


def _is_token(value: str) -> bool:
    """Return whether a value with a secret-like name looks drawn at random."""
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    varied = len(set(value)) >= min(10, len(value) * 0.45)
    is_named = _UUID.fullmatch(value) or _ATTRIBUTE.fullmatch(value)
    return _is_value(value) and has_digit and has_letter and varied and not is_named


def _is_password(value: str) -> bool:
    """Return whether a value looks chosen as a password: not a word, a type or an expression."""
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    has_mark = any(not character.isalnum() and character not in "_-." for character in value)
    has_both_cases = value[1:] != value[1:].lower() and value != value.upper()
    is_identifier = re.fullmatch(r"[A-Za-z_][A-Za-z]*(?:[._][A-Za-z]+)*", value) is not None
    return (
        _is_value(value)
        and has_letter
        and (has_digit or has_mark or has_both_cases)
        and not is_identifier
    )


def _is_quoted_password(value: str) -> bool:
    return _is_value(value) and " " not in value and not re.fullmatch(r"[a-z_.]+|[A-Z_]+", value)


def _is_own_password(value: str) -> bool:
    """Return whether "my password is X" names it: any word but one that describes it."""
    word = value.lower().rstrip(".,!?")
    described = word in _NOT_A_PASSWORD or word.endswith(("ed", "ing", "ly", "able", "ible"))
    return _is_value(value) and (not described or any(c.isdigit() for c in value))


def _is_value(value: str) -> bool:
    return not (_PLACEHOLDER.match(value) or _EXPRESSION.search(value) or _PATH.search(value))


def _is_url_password(value: str) -> bool:
    return not (_PLACEHOLDER.match(value) or re.search(r"[{}<>$]|^%s$|^\*+$", value))


def _is_mixed(value: str) -> bool:
    """Return whether a value has digits and capitals: names in CSS and code have not."""
    return any(c.isdigit() for c in value) and any(c.isupper() for c in value)


def _is_argument(value: str) -> bool:
    """Return whether what follows an option of a command is a value, and no other option."""
    return _is_value(value) and not value.startswith("-")


def _is_varied(value: str) -> bool:
    """Return whether a value is no run of a few letters."""
    return len(set(value)) >= 10


def _anything(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Pattern:
    """One shape.

    Attributes:
        kind: What it is called where it was removed.
        hints: How it begins, in lower case; it is tried only there.
        shape: Its regular expression; the group `secret`, or all of it, is what is removed.
        is_secret: Tells a match from what only looks like one.
        before: What has to stand before it.
    """

    kind: str
    hints: tuple[str, ...]
    shape: re.Pattern[str]
    is_secret: Callable[[str], bool] = _anything
    before: re.Pattern[str] | None = None


def _pattern(
    kind: str,
    hints: str,
    shape: str,
    is_secret: Callable[[str], bool] = _anything,
    before: re.Pattern[str] | None = None,
) -> Pattern:
    return Pattern(kind, tuple(hints.split()), re.compile(shape), is_secret, before)


_NAME_END = (
    r"(?!\w*(?:[Cc]ount|[Ll]ength|[Ll]imit|[Hh]ash|[Uu]rl|[Pp]ath|[Ff]ile|[Nn]ame|[Tt]ype"
    r"|[Ee]xpir|[Ss]ize|[Pp]olicy|[Rr]egex|[Ii]d\b|_id\b))"
)
_ASSIGNED = r"\\*[\"'`]?\]?\s{0,3}(?::=|=>|=|:)\s{0,3}\\*"

_NAMES = "password passwd passphrase pwd passwort kennwort contrase\u00f1a senha wachtwoord"
_EITHER_NAME = _NAMES.replace(" ", "|")

PATTERNS = (
    _pattern(
        "private key",
        "-----begin",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{0,20000}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\\+[rn]|\s)*[A-Za-z0-9+/=]{16,76}(?=\\+[rn]|\s|$)){1,200})",
    ),
    _pattern(
        "private key",
        "private-lines:",
        r"Private-Lines: \d{1,4}(?P<secret>(?:(?:\\+[rn]|\s)+[A-Za-z0-9+/=]{16,64}){1,200})",
    ),
    _pattern(
        "AWS key",
        "akia asia abia acca",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
        lambda v: not v.endswith("EXAMPLE"),
    ),
    _pattern(
        "AWS secret key",
        "aws secret",
        r"(?i)(?:aws\w{0,20}|secret)[_\s-]{0,2}(?:secret[_\s-]?)?(?:access[_\s-]?)?key"
        + _ASSIGNED
        + r"[\"'`]?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        lambda v: _is_mixed(v) and not v.endswith("EXAMPLEKEY"),
    ),
    _pattern(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})\b",
    ),
    _pattern(
        "GitLab token",
        "glpat- gldt- glrt- glsoat- glcbt-",
        r"gl(?:pat|dt|rt|ft|soat|cbt)-[\w.-]{20,100}",
    ),
    _pattern("Anthropic key", "sk-ant-", r"sk-ant-[a-z0-9]{2,10}-[\w-]{20,200}"),
    _pattern("OpenRouter key", "sk-or-", r"sk-or-v\d-[0-9a-f]{40,64}\b"),
    _pattern(
        "OpenAI key",
        "sk-",
        r"sk-(?!ant-|or-)(?:proj-|svcacct-|admin-|None-)?[\w-]{20,200}",
        _is_mixed,
    ),
    _pattern("OpenAI key", "sk-", r"sk-[0-9a-f]{32,64}\b", _is_varied),
    _pattern("Google key", "aiza", r"AIza[\w-]{35}(?![\w-])"),
    _pattern("Google token", "ya29. gocspx-", r"(?:ya29\.[\w-]{20,300}|GOCSPX-[\w-]{24,40})"),
    _pattern(
        "Hugging Face token",
        "hf_ api_org_",
        r"(?:hf|api_org)_[A-Za-z]{30,40}\b|hf_[A-Za-z0-9]{30,40}\b",
    ),
    _pattern(
        "Slack token",
        "xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-",
        r"(?:xox[abeoprs](?:\.xox[a-z])?|xapp)-[\w-]{10,250}",
        lambda v: any(c.isdigit() for c in v),
    ),
    _pattern(
        "Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows"
        r"|triggers)/(?P<secret>[A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{16,})",
    ),
    _pattern(
        "Stripe key",
        "sk_ rk_ pk_ whsec_",
        r"(?:[srp]k_(?:live|test)_[A-Za-z0-9]{16,200}|whsec_[A-Za-z0-9+/=]{24,100})",
    ),
    _pattern("JWT", "eyj", r"eyJ[\w-]{8,2000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}"),
    _pattern("Notion token", "secret_", r"secret_[A-Za-z0-9]{43}\b", _is_mixed),
    _pattern(
        "Azure key", "sig=", r"(?<=[?&;])sig=(?P<secret>[\w%+/-]{40,100}(?:%3D|=))", _is_mixed
    ),
    _pattern(
        "registry login",
        "auth",
        r"auth\\*\"\s{0,3}:\s{0,3}\\*\"(?P<secret>[A-Za-z0-9+/]{16,400}={0,2})\\*\"",
        _is_mixed,
    ),
    _pattern("npm token", "npm_", r"npm_[A-Za-z0-9]{36}\b"),
    _pattern("PyPI token", "pypi-", r"pypi-[\w-]{50,300}"),
    _pattern("SendGrid key", "sg.", r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    _pattern("Twilio key", "sk ac", r"(?:SK|AC)[0-9a-f]{32}\b"),
    _pattern("Telegram token", ":aa", r"(?<=\d{8}):AA[\w-]{32,34}(?![\w-])"),
    _pattern(
        "Discord webhook",
        "discord.com/ discordapp.com/",
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{10,20}/[\w-]{40,80})",
    ),
    _pattern(
        "Azure key",
        "accountkey sharedaccesskey",
        r"(?i)(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
    ),
    _pattern("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}\b"),
    _pattern("Databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    _pattern(
        "Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"
    ),
    _pattern("Vault token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,200}"),
    _pattern(
        "API token",
        "glsa_ lin_api_ gsk_ r8_ xai- pplx- sbp_ figd_ dckr_pat_ tskey- atatt3 ntn_ pscale_"
        " age-secret-key- dp.pt. nvapi- sntrys_ sntryu_ glc_ nrak- pul- pmak- nfp_ rubygems_"
        " xkeysib- sb_secret_ tvly- ccipat_ cfpat- sl. sq0atp- sq0csp- shippo_live_ key-",
        r"(?:glsa_\w{32}_[0-9a-f]{8}|lin_api_[A-Za-z0-9]{40}|gsk_[A-Za-z0-9]{48,56}"
        r"|r8_[A-Za-z0-9]{37}|xai-[A-Za-z0-9]{60,90}|pplx-[A-Za-z0-9]{40,60}"
        r"|sbp_[0-9a-f]{40}|figd_[\w-]{36,50}|dckr_pat_[\w-]{24,40}|tskey-[a-z]+-[\w-]{16,60}"
        r"|ATATT3[\w=-]{60,250}|ntn_[A-Za-z0-9]{40,60}"
        r"|pscale_(?:tkn|pw|oauth)_[\w.-]{30,64}|AGE-SECRET-KEY-1[A-Z0-9]{58}"
        r"|dp\.pt\.[A-Za-z0-9]{40,44}|nvapi-[\w-]{60,70}|sntrys_[\w+/=]{40,400}"
        r"|sntryu_[a-f0-9]{64}|glc_[\w+/=]{32,400}|NRAK-[A-Z0-9]{27}|pul-[a-f0-9]{40}"
        r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|nfp_[A-Za-z0-9]{36,40}|rubygems_[a-f0-9]{48}"
        r"|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|sb_secret_[\w-]{20,60}|tvly-(?:dev-|prod-)?\w{32,40}"
        r"|CCIPAT_\w{22}_[a-f0-9]{40}|CFPAT-[\w-]{43}|sl\.[A-Za-z0-9][\w-]{120,250}"
        r"|sq0(?:atp-[\w-]{22}|csp-[\w-]{43})|shippo_live_[a-f0-9]{40}|key-[a-f0-9]{32})(?![\w-])",
    ),
    _pattern(
        "password in an address",
        "://",
        r"://[^\s:/@'\"<>]{0,64}:(?P<secret>[^\s@/'\"<>]{3,128})@(?=[\w.\[-])",
        _is_url_password,
    ),
    _pattern(
        "authorization header",
        "authorization",
        r"(?i)authorization\\*[\"']?\s{0,2}[:=]\s{0,2}\\*[\"']?(?:bearer|basic|token"
        r"|apikey)\s+(?P<secret>[\w.~+/=-]{12,2000})",
        _is_value,
    ),
    _pattern(
        "authorization header", "bearer", r"[Bb]earer\s+(?P<secret>[\w.~+/=-]{20,2000})", _is_token
    ),
    _pattern(
        "password",
        _NAMES,
        rf"(?i)(?:{_EITHER_NAME})\w{{0,10}}"
        + _ASSIGNED
        + r"(?P<mark>[\"'`])(?P<secret>[^\s\"'`\\]{5,128})\\*(?P=mark)",
        _is_quoted_password,
    ),
    _pattern(
        "password",
        _NAMES,
        rf"(?i)(?:{_EITHER_NAME})"
        + _NAME_END
        + r"\w{0,10}"
        + _ASSIGNED
        + r"(?P<secret>[^\s\"'`,;\\]{6,128})",
        _is_password,
    ),
    _pattern(
        "password",
        "pass pw",
        r"(?i)(?:(?<=_)pass|(?<![a-z0-9])pw)"
        + _ASSIGNED
        + r"[\"'`]?(?P<secret>[^\s\"'`,;\\]{6,128})",
        _is_password,
    ),
    _pattern(
        "password",
        "login",
        r"(?i)login\s+\S{1,128}\s+password\s+(?P<secret>[^\s\\]{4,128})",
        _is_argument,
    ),
    _pattern(
        "password",
        "mysql",
        r"mysql(?:dump|admin|import)?\s(?:[^\n|;&]{0,200}?\s)?-p(?P<mark>\\*[\"']?)"
        r"(?P<secret>[^\s\"'\\]{4,128})(?P=mark)(?=\s|$|[`|;&)\\\"'])",
        _is_argument,
    ),
    _pattern(
        "password",
        "sshpass",
        r"sshpass\s+-p\s*\\*[\"']?(?P<secret>[^\s\"'\\]{3,128})",
        _is_argument,
    ),
    _pattern(
        "password",
        "curl wget",
        r"(?:curl|wget)\s(?:[^\n|;&]{0,200}?\s)?(?:-u|--user|--password)[\s=]\s{0,2}"
        r"\\*[\"']?(?:[^\s:\"']{1,64}:)(?P<secret>[^\s\"'@\\]{3,128})",
        _is_argument,
    ),
    _pattern(
        "password",
        "--pass",
        r"--pass(?:word|wd|phrase)?\s+\\*[\"']?(?P<secret>[^\s\"'`\\]{6,128})",
        _is_password,
    ),
    _pattern(
        "secret",
        "--token --api-key --secret --apikey --access-token --auth-token",
        r"--(?:api-?key|secret|(?:access-|auth-)?token)\s+[\"']?(?P<secret>[\w+/=~.-]{16,4000})",
        _is_token,
    ),
    _pattern(
        "password",
        "password passphrase passcode",
        r"(?i)(?:password|passphrase|passcode)(?:\s+(?:for|to|of|on)\s+[\w@. -]{1,40}?)?\s+(?:is"
        r"|was|=)\s*:?\s+[\"'`\u201c]?(?P<secret>[^\s\"'`\u201d,;\\]{6,128}?)"
        r"(?=[\"'`\u201d,;.!?]*(?:\s|$|\\))",
        _is_password,
    ),
    _pattern(
        "password",
        "password passphrase passcode",
        r"(?i)(?:password|passphrase|passcode)\s+(?:is"
        r"|was)\s*:?\s+[\"'`\u201c]?(?P<secret>[^\s\"'`\u201d,;\\]{6,128}?)"
        r"(?=[\"'`\u201d,;.!?]*(?:\s*$|\s*\n|[.,;!]|\\))",
        _is_own_password,
        before=re.compile(r"(?i)(?:\b|\\[nrt])(?:my|our)\s+(?:[\w-]+\s+){0,3}$"),
    ),
    _pattern(
        "secret",
        "secret token api access auth encryption signing client credential",
        r"(?i)(?<!public)(?<!publickey)(?:secret|token|api[_-]?key|access[_-]?key|auth[_-]?key"
        r"|encryption[_-]?key"
        r"|signing[_-]?key|client[_-]?secret|credentials?)"
        + _NAME_END
        + r"\w{0,10}"
        + _ASSIGNED
        + r"[\"'`]?(?P<secret>[\w+/=~.-]{16,4000})(?![\w(])",
        _is_token,
    ),
    _pattern(
        "secret",
        "secret token api access auth",
        r"(?i)(?:api[ _-]?key|access[ _-]?(?:key|token)|secret(?:[ _-]key)?"
        r"|auth(?:entication)?[ _-]token|token)\s+(?:is"
        r"|was)\s*:?\s+[\"'`\u201c]?(?P<secret>[\w+/=~.-]{16,4000})",
        _is_token,
    ),
)
