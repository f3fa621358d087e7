"""Secrets of real shapes that are none: put together when a test runs, so that nothing in the
repository looks like one."""

import random
import string

ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE64 = ALPHANUMERIC + "+/"
URL_SAFE = ALPHANUMERIC + "-_"


def fakes(seed: int = 7) -> list[tuple[str, str, str]]:
    """Return the kind, the secret and a line that holds it, for each shape."""
    chance = random.Random(seed)

    def drawn(length: int, letters: str = ALPHANUMERIC) -> str:
        # A digit, a capital and a small letter are always among what services hand out.
        text = "".join(chance.choice(letters) for _ in range(length))
        return text if letters is HEX or length < 16 else f"{text[:-3]}aZ7"

    pem = "\n".join(drawn(64, BASE64) for _ in range(6))
    pem_end = "PRIVATE" + " KEY-----"
    shapes = [
        (
            "AWS key",
            "AK" + "IA" + drawn(16, string.ascii_uppercase + "234567").upper()[:13] + "QWE",
            "aws_access_key_id = {}",
        ),
        ("AWS secret key", drawn(40, BASE64), "aws_secret_access_key = {}"),
        ("GitHub token", "gh" + "p_" + drawn(36), "git clone https://{}@github.com/me/repo.git"),
        ("GitHub token", "github" + "_pat_" + drawn(22) + "_" + drawn(59), "export GH={}"),
        ("GitHub token", "gh" + "s_" + drawn(36), "the runner printed {} in its log"),
        ("GitLab token", "gl" + "pat-" + drawn(20), "PRIVATE-TOKEN: {}"),
        (
            "OpenAI key",
            "sk-" + "proj-" + drawn(74, URL_SAFE) + "T3Blbk" + "FJ" + drawn(74, URL_SAFE),
            "OPENAI_API_KEY={}",
        ),
        (
            "OpenAI key",
            "sk-" + drawn(20) + "T3Blbk" + "FJ" + drawn(20),
            'client = OpenAI(api_key="{}")',
        ),
        (
            "Anthropic key",
            "sk-" + "ant-api03-" + drawn(93, URL_SAFE) + "AA",
            "use {} for the batch job",
        ),
        (
            "Google key",
            "AI" + "za" + drawn(35, URL_SAFE),
            "https://maps.googleapis.com/maps/api/js?key={}",
        ),
        ("Google token", "GOC" + "SPX-" + drawn(28, URL_SAFE), '"client_secret":"{}"'),
        (
            "Hugging Face token",
            "h" + "f_" + drawn(34, string.ascii_letters),
            "huggingface-cli login --token {}",
        ),
        (
            "Slack token",
            "xox" + "b-" + drawn(12, "123456789") + "-" + drawn(12, "123456789") + "-" + drawn(24),
            "slack bot {}",
        ),
        (
            "Slack webhook",
            "T"
            + drawn(10, string.ascii_uppercase + "123")
            + "/B"
            + drawn(10, string.ascii_uppercase + "123")
            + "/"
            + drawn(24),
            "curl https://hooks.sl" + "ack.com/services/{}",
        ),
        ("Stripe key", "sk" + "_live_" + drawn(24), "stripe.api_key = '{}'"),
        (
            "JWT",
            "ey" + "J" + drawn(33) + ".ey" + "J" + drawn(60) + "." + drawn(43, URL_SAFE),
            "Cookie: session={}",
        ),
        (
            "private key",
            f"-----BEGIN RSA {pem_end}\n{pem}\n-----END RSA {pem_end}",
            "here is the key:\n{}\nkeep it safe",
        ),
        (
            "private key",
            f"-----BEGIN OPENSSH {pem_end}\n{pem}\n-----END OPENSSH {pem_end}",
            "cat id_ed25519\n{}",
        ),
        ("npm token", "np" + "m_" + drawn(36), "//registry.npmjs.org/:_authToken={}"),
        (
            "PyPI token",
            "py" + "pi-AgEIcHlwaS5vcmc" + drawn(120, URL_SAFE),
            "twine upload -u __token__ -p {}",
        ),
        (
            "SendGrid key",
            "S" + "G." + drawn(22, URL_SAFE) + "." + drawn(43, URL_SAFE),
            "SENDGRID {}",
        ),
        (
            "Telegram token",
            drawn(9, "123456789") + ":A" + "A" + drawn(33, URL_SAFE),
            "bot {} started",
        ),
        (
            "Azure key",
            drawn(86, BASE64) + "==",
            "AccountName=kmem;AccountKey={};EndpointSuffix=core.windows.net",
        ),
        ("DigitalOcean token", "do" + "p_v1_" + drawn(64, HEX), "doctl auth init -t {}"),
        (
            "password in an address",
            drawn(12),
            "DATABASE_URL=postgres://kmem:{}@db.internal:5432/kmem",
        ),
        ("password in an address", drawn(14), "redis://:{}@10.0.0.7:6379/0"),
        (
            "password in an address",
            drawn(10) + "!x",
            "mongodb+srv://app:{}@cluster0.ab1cd.mongodb.net/test",
        ),
        ("password", "Sommer" + "2026!", "my wifi password is {}"),
        ("password", "trock" + "enfisch", "my laptop password is {}."),
        (
            "password",
            "hunter" + "22-Blue",
            "the password for the staging box was {}, please change it",
        ),
        ("password", "pa55" + "Wort!9", 'DB_PASSWORD="{}"'),
        ("password", "q1w2" + "e3r4t5", "password: {}"),
        ("secret", drawn(64, HEX), "DJANGO_SECRET={}"),
        ("secret", drawn(40), '"api_key": "{}"'),
        ("secret", drawn(32), "the api key is {}"),
        (
            "authorization header",
            drawn(48, URL_SAFE),
            'curl -H "Authorization: Bearer {}" https://api.example.com',
        ),
        ("API token", "lin" + "_api_" + drawn(40), "LINEAR={}"),
        ("OpenAI key", "sk-" + drawn(32, HEX), "deepseek answers to {}"),
        ("Notion token", "sec" + "ret_" + drawn(43), "the integration is {}"),
        (
            "Azure key",
            drawn(43) + "%3D",
            "https://shop.blob.core.windows.net/c?sv=2024-11-04&sig={}",
        ),
        ("registry login", drawn(40), '"auths": {{"registry.example.com": {{"auth": "{}"}}}}'),
        ("API token", "sntr" + "yu_" + drawn(64, HEX), "sentry-cli login {}"),
        (
            "private key",
            drawn(64, BASE64) + "\n" + drawn(64, BASE64),
            "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n{}\nPrivate-MAC: 00",
        ),
        ("secret", drawn(900), "AWS_SESSION_TOKEN={}"),
        ("secret", drawn(36), "npm publish --token {}"),
        ("password", "Tr0ub" + "4dor", "mysql -h db -u root -p{} shop"),
        ("password", "Tr0ub" + "4dor&", "mysqldump -u root -p'{}' shop > shop.sql"),
        ("password", "tr0ub" + "4dor", "sshpass -p '{}' ssh me@build"),
        ("password", "s3cr3t" + "-pw", "curl -s -u admin:{} https://ci.example.com/build"),
        ("password", "z9x8" + "c7", "machine api.example.com login me password {}"),
        ("password", "Tr0ub" + "4dor9", "SMTP_PASS: {}"),
        ("password", "Geheim" + "2026!", "Das Passwort: {}"),
        (
            "password",
            "Pa55" + "w0rd!",
            "Server=tcp:db,1433;User ID=sa;Password={};Encrypt=true",
        ),
        ("Vault token", "hv" + "s." + drawn(90, URL_SAFE), "vault login {}"),
    ]
    return [(kind, secret, line.format(secret)) for kind, secret, line in shapes]
