"""What is a secret and what only looks like one."""

import pytest

from emberscope.redact import REPLACEMENT, Redactor, shorten


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:postgresql://db:5432/shop?user=me&password=TOPSECRET&ssl=true",
        "jdbc:oracle:thin:scott/TOPSECRET@//db:1521/x",
        "mongodb://me:TOPSECRET@db:27017/shop",
        "-Xmx2g -Djavax.net.ssl.keyStorePassword=TOPSECRET -XX:+UseG1GC",
        "java App --conf spark.hadoop.fs.s3a.secret.key=TOPSECRET --class A",
        "app.py --api-token TOPSECRET --day 2024-01-01",
        "fs.s3a.access.key: TOPSECRET",
        '{"client_secret": "TOPSECRET and more"}',
        "the token is Bearer TOPSECRETTOPSECRET1234",
        "https://a.blob.core.windows.net/x?sv=1&sig=TOPSECRET%3D",
        "AccountKey=TOPSECRET==;EndpointSuffix=core.windows.net",
        "-----BEGIN RSA PRIVATE KEY-----\nTOPSECRET\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_secrets_in_texts(text: str) -> None:
    redactor = Redactor()
    clean = redactor.text(text)
    assert clean is not None
    assert "TOPSECRET" not in clean
    assert REPLACEMENT in clean
    assert redactor.count == 1
    assert redactor.text(clean) == clean


@pytest.mark.parametrize("key", ["AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1" * 18, "dapi" + "0f" * 16])
def test_keys_that_their_form_gives_away(key: str) -> None:
    assert key not in str(Redactor().text(f"left {key} right"))


@pytest.mark.parametrize(
    "text",
    [
        "HashAggregate(keys=[password#12, token#13L], functions=[count(1)])",
        "ReadSchema: struct<user:string,password:string,access_key:bigint>",
        "Filter (isnotnull(secret#5) AND (secret#5 > 3))",
        "spark://driver:7077",
        "Tokenizer: words",
        "hdfs://namenode:8020/data@2024",
        "1.5 GB of 1.5 GB physical memory used",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == text
    assert redactor.count == 0


@pytest.mark.parametrize(
    "name",
    [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "DB_PASSWD",
        "MYSQL_PWD",
        "GITHUB_PAT",
        "STRIPE_KEY",
        "SENTRY_DSN",
        "javax.net.ssl.trustStorePassword",
        "zest.token",
        "clientSecret",
        "apiKey",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert Redactor().is_secret(name)


@pytest.mark.parametrize(
    "name",
    ["PWD", "OLDPWD", "HOME", "key", "PATH", "java.home", "keyboard", "monkey", "user.dir", "author"],
)
def test_names_of_other_things(name: str) -> None:
    assert not Redactor().is_secret(name)


def test_settings_go_by_key() -> None:
    redactor = Redactor()
    assert redactor.setting("spark.my.Password", "x") == REPLACEMENT
    assert redactor.setting("spark.hadoop.fs.s3a.access.key", "x") == REPLACEMENT
    assert redactor.setting("spark.my.Password", REPLACEMENT) == REPLACEMENT
    assert redactor.setting("spark.app.name", "nightly") == "nightly"
    assert redactor.setting("spark.url", "db://u:pw@host") == f"db://u:{REPLACEMENT}@host"
    assert redactor.count == 3


def test_the_logs_own_regex_is_followed_for_keys_and_values() -> None:
    redactor = Redactor()
    redactor.follow("(?i)pin|secret")
    assert redactor.setting("spark.my.pin", "1234") == REPLACEMENT
    assert redactor.setting("spark.my.note", "the PIN is 1234") == REPLACEMENT
    assert redactor.setting("spark.my.password", "x") == REPLACEMENT
    assert redactor.setting("spark.app.name", "nightly") == "nightly"
    redactor.follow("(unclosed")
    assert redactor.setting("spark.my.pin", "1234") == REPLACEMENT


def test_long_texts_lose_their_middle() -> None:
    text = "A" * 5000 + "Z" * 5000
    short = shorten(text)
    assert short is not None
    assert short.startswith("A" * 2000)
    assert short.endswith("Z" * 2000)
    assert "6000 characters left out" in short
    assert shorten("short") == "short"
    assert shorten(None) is None
