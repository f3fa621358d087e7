"""An invented project to look at: what assistants would have stored while building a web shop."""

SCOPE = "project:shopfront"

KNOWLEDGE = [
    (
        "Cache stays in process, no shared cache",
        "The page cache never needed Redis: an LRU of 2,000 entries hits 96 % and costs 40 MB per"
        " process. A shared cache would add a network hop to every page.",
        ("cache", "performance"),
        SCOPE,
        "insight",
        5,
    ),
    (
        "Load test of the new queue",
        "p95 stayed at 14 ms with 32 workers; nothing to gain from going back to Redis. The test"
        " ran for two hours with 400 jobs a second:\n\n"
        "| workers | p50 | p95 |\n|---|---|---|\n| 8 | 6 ms | 11 ms |\n| 32 | 8 ms | 14 ms |\n",
        ("queue", "load-test", "postgres"),
        SCOPE,
        "insight",
        5,
    ),
    (
        "Do not add a new data store without a decision record",
        "ADR-004 lists the stores in use; Redis was taken out in May. Whoever wants another one"
        " writes a decision record first, with the cost of running it for a year.",
        ("architecture", "adr"),
        SCOPE,
        "rule",
        10,
    ),
    (
        "Queue moved from Redis to PostgreSQL",
        "Jobs were lost when Redis was restarted without persistence. `LISTEN/NOTIFY` with"
        " `SKIP LOCKED` carries 400 jobs a second here, and there is one thing less to run.\n\n"
        "```sql\nSELECT id FROM job WHERE done_at IS NULL\n"
        "ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1;\n```\n",
        ("queue", "postgres", "operations"),
        SCOPE,
        "decision",
        8,
    ),
    (
        "Workers drain both queues before the switch",
        "During a move between queues the workers read the old queue until it is empty, then the"
        " new one. Jobs carry an idempotency key, so that running one twice does no harm.",
        ("queue", "deploy"),
        SCOPE,
        "pattern",
        6,
    ),
    (
        "Prices are integers in the smallest unit",
        "All prices are `int` cents with a currency code beside them. Floats never touch money;"
        " rounding happens once, at the invoice line, half to even.",
        ("money", "domain"),
        SCOPE,
        "rule",
        9,
    ),
    (
        "Checkout must answer within 300 ms at p95",
        "The latency budget of the checkout is 300 ms at p95, of which the payment provider takes"
        " 180. What we add is measured in CI by `bench/checkout.py`.",
        ("checkout", "performance"),
        SCOPE,
        "guideline",
        7,
    ),
    (
        "Stripe webhooks arrive twice and out of order",
        "Treat each webhook as a hint: fetch the payment by its id and act on what it says now.\n\n"
        "1. Store the event id, ignore it the second time.\n"
        "2. Read the payment from the API.\n3. Apply the state, never the event.",
        ("stripe", "payments"),
        SCOPE,
        "solution",
        8,
    ),
    (
        "psycopg raises InterfaceError after a failover",
        "After a failover the pool hands out dead connections. `pool.check()` before the first use"
        " and a retry of one solves it; without it the first requests fail for a minute.",
        ("postgres", "errors"),
        SCOPE,
        "error",
        6,
    ),
    (
        "E-mail templates are reviewed by support",
        "Support reads each template before it goes out, because they answer the replies. Open a"
        " pull request with the label `support-review`.",
        ("email", "process"),
        SCOPE,
        "guideline",
        4,
    ),
    (
        "Feature flags live in the database, not in files",
        "Flags are rows with an owner and an end date; a nightly job reminds the owner of flags"
        " that are over their date. See [the flag page](https://example.com/flags).",
        ("flags", "operations"),
        SCOPE,
        "decision",
        5,
    ),
    (
        "Money formatting per locale by Babel",
        "Use `babel.numbers.format_currency(amount / 100, code, locale=...)`; never build the"
        " string by hand, the Swiss apostrophe will get you.",
        ("i18n", "money"),
        SCOPE,
        "code",
        5,
    ),
    (
        "Type hints everywhere, checked strictly",
        "mypy strict in CI, no `Any` outside of adapters. A missing stub is written by hand under"
        " `typings/`, not ignored for the whole module.",
        ("python", "style"),
        "global",
        "rule",
        7,
    ),
    (
        "Answers in German, code and commits in English",
        "I read German faster; everything that goes into a repository is English, also comments"
        " and commit messages.",
        ("preferences",),
        "global",
        "guideline",
        8,
    ),
    (
        "Tests speak in sentences",
        "A test's name is a sentence about behaviour, such as"
        " `test_an_expired_coupon_is_refused`. No test waits by sleeping.",
        ("tests", "style"),
        "global",
        "pattern",
        6,
    ),
    (
        "Retry with jitter for every outside call",
        "Three tries, exponential from 200 ms with full jitter, and a deadline of two seconds in"
        " all. The helper is `shop.net.retrying`.",
        ("network", "reliability"),
        SCOPE,
        "pattern",
        6,
    ),
]

_AREAS = (
    ("Image pipeline", "images", "webp at quality 82, three widths, made on upload by the worker"),
    ("Search in the catalogue", "catalogue", "trigram index on the name, weights 4 to 1 to text"),
    ("Session cookies", "security", "SameSite=Lax, fourteen days, rotated on login and on rights"),
    ("Nightly export", "export", "one CSV a day to the warehouse, streamed, never over 50 MB"),
    ("Stock reservations", "stock", "a row lock for eight minutes while the customer pays"),
    ("Address validation", "checkout", "offline first, the outside service only on a mismatch"),
    ("Coupons", "pricing", "applied after tax classes are known, before shipping is added"),
    ("Deploys", "deploy", "blue and green behind the proxy, schema changes one release earlier"),
    ("Logging", "operations", "JSON lines, one request id through all services, no mail addresses"),
    ("Backups", "operations", "base copy each night, WAL each minute, a drill each first Monday"),
    ("Admin pages", "admin", "server-rendered, no scripts but for the date field and the uploads"),
    ("Rate limits", "security", "a token bucket per account in PostgreSQL, sixty a minute"),
)
for _name, _tag, _what in _AREAS:
    KNOWLEDGE.append(
        (
            f"{_name}: how shopfront does it",
            f"{_name} works like this in shopfront: {_what}. It was settled in spring and has"
            " held since; change it together with its test.",
            (_tag, "howto"),
            SCOPE,
            "reference",
            5,
        )
    )

ENTITIES = [
    (
        "shopfront-worker",
        "service",
        (
            "uses PostgreSQL for its queue since May; replaced Redis",
            "owned by the platform team, on-call by rota",
            "32 processes, `WORKERS` in the environment changes it",
            "alert worker-oldest-job pages when a job is older than five minutes",
            "drains before a deploy: SIGTERM, then up to 90 seconds",
            "its logs carry the job id as request id",
        ),
    ),
    ("PostgreSQL", "database", ("version 17, one primary and two replicas", "holds the job queue")),
    ("Redis", "database", ("was the queue until May, lost jobs on restart",)),
    ("platform team", "team", ("five people", "meets on Tuesdays")),
    ("checkout", "component", ("calls Stripe", "budget of 300 ms at p95")),
    ("Stripe", "company", ("sends webhooks twice",)),
    ("Maja", "person", ("leads the platform team", "prefers decisions in writing")),
    ("worker-oldest-job", "alert", ("pages after five minutes of queue age",)),
]

RELATIONS = [
    ("shopfront-worker", "PostgreSQL", "uses"),
    ("shopfront-worker", "Redis", "replaced"),
    ("platform team", "shopfront-worker", "owns"),
    ("shopfront-worker", "worker-oldest-job", "has alert"),
    ("checkout", "Stripe", "calls"),
    ("Maja", "platform team", "leads"),
]

MEMORY_FILE = """\
{"type":"entity","name":"catalogue","entityType":"component","observations":["trigram search"]}
{"type":"entity","name":"Redis","entityType":"database","observations":["kept on staging"]}
{"type":"entity","name":"warehouse","entityType":"service","observations":["takes the CSV"]}
{"type":"relation","from":"catalogue","to":"PostgreSQL","relationType":"stored in"}
{"type":"relation","from":"warehouse","to":"finance","relationType":"reports to"}
{"type":"entity","name":"cut of
{"type":"planet","name":"Saturn"}
"""
