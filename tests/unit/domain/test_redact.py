"""Secrets are hidden wherever they stand; what training scripts are told all the time is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.redact import HIDDEN, is_secret_name, redact_arguments, redact_environment, redact_text

HF = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwX"


@pytest.mark.parametrize(
    "name",
    [
        "TOKEN", "HF_TOKEN", "HF_TOKEN_2", "--hf-token", "hub.token", "WANDB_API_KEY", "OPENAI_API_KEY", "--api-key",
        "apiKey", "APIKEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "SECRET", "client_secret", "PASSWORD",
        "PGPASSWORD", "MYSQL_PWD", "db_passwd", "GOOGLE_APPLICATION_CREDENTIALS", "AUTH", "--basic-auth", "GITHUB_PAT",
        "SLACK_WEBHOOK_URL", "authToken", "private_key", "SESSION_COOKIE", "--key",
    ],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "--tokenizer", "TOKENIZERS_PARALLELISM", "--max-tokens", "num_tokens", "--pad-token", "eos_token",
        "eos_token_id", "--token-dim", "--key-dim", "num_key_value_heads", "--sort-key", "--image-key", "keys",
        "AUTHOR", "PWD", "OLDPWD", "--path", "PATH", "monkey", "--secs", "lr", "", "--", "-",
    ],
)  # fmt: skip
def test_names_that_are_none(name: str) -> None:
    assert not is_secret_name(name)


def test_value_after_an_option_and_in_it() -> None:
    argv = ["train.py", "--api-key", "abc", "--password=x y", "model.api_key=q", "--epochs", "3", "HF_TOKEN=abc"]
    assert redact_arguments(argv) == (
        "train.py", "--api-key", HIDDEN, f"--password={HIDDEN}", f"model.api_key={HIDDEN}", "--epochs", "3",
        f"HF_TOKEN={HIDDEN}",
    )  # fmt: skip


def test_a_secret_may_begin_with_a_dash_but_an_option_is_no_value() -> None:
    assert redact_arguments(["--token", "-abc", "--use-auth-token", "--epochs", "3"]) == (
        "--token", HIDDEN, "--use-auth-token", "--epochs", "3",
    )  # fmt: skip


def test_switches_keep_their_value() -> None:
    argv = ("--use-auth-token", "True", "--token=none", "--tokenizer", "gpt2", "--key-dim", "64", "--max-tokens", "100")
    assert redact_arguments(argv) == argv


@pytest.mark.parametrize(
    "secret",
    [
        HF,
        "sk-" + "proj-0123456789abcdefXYZ",
        "ghp_" + "0123456789abcdefABCDEF0123456789abcd",
        "AKIA" + "0123456789ABCDEF",
        "AIza" + "0123456789abcdefghijklmnopqrstuvwxy",
        "xoxb-" + "123456789012-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    ],
)
def test_tokens_known_by_their_form(secret: str) -> None:
    assert redact_arguments(["train.py", secret, f"x/{secret}"]) == ("train.py", HIDDEN, f"x/{HIDDEN}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgres://me:p@ss@db/x", "postgres://me:***@db/x"),
        ("https://me:p@h/x?api_key=abc&n=3", "https://me:***@h/x?api_key=***&n=3"),
        ("https://h/x?X-Amz-Signature=abc&n=3", "https://h/x?X-Amz-Signature=***&n=3"),
        ("ssh://git@host/repo http://localhost:8080/x", "ssh://git@host/repo http://localhost:8080/x"),
        ('{"api_key": "a b&c", "lr": 3}', '{"api_key": "***", "lr": 3}'),
        ("HF_TOKEN='a b' python", "HF_TOKEN='***' python"),
        ("{api_key: abc, lr: 3}", "{api_key: ***, lr: 3}"),
        ("TOKEN=a,b;ls", "TOKEN=***;ls"),
        ("--opts=lr=3,token=abc", "--opts=lr=3,token=***"),
        ("train --password 'a b' --lr 3", "train --password '***' --lr 3"),
        ("HF_TOKEN=abc python t.py --api-key q --lr 3", "HF_TOKEN=*** python t.py --api-key *** --lr 3"),
        ("Authorization: Bearer abcdefgh.1234", "Authorization: *** ***"),
        ("hf_model sk-learn num_tokens=5 s3://bucket/key=3", "hf_model sk-learn num_tokens=5 s3://bucket/key=***"),
    ],
)
def test_inside_a_text(text: str, shown: str) -> None:
    assert redact_text(text) == shown


def test_environment_by_name_and_by_content() -> None:
    given = {"WANDB_API_KEY": "abc", "DATA": f"/x/{HF}", "PASSWORD": "1234", "TOKENIZERS_PARALLELISM": "false"}
    assert redact_environment(given) == {
        "WANDB_API_KEY": HIDDEN, "DATA": f"/x/{HIDDEN}", "PASSWORD": HIDDEN, "TOKENIZERS_PARALLELISM": "false",
    }  # fmt: skip


def test_nothing_to_hide_changes_nothing() -> None:
    argv = ("train.py", "--epochs", "3", "--name", "ключ = 3", "--note", "it's 100% fine: ok", "")
    assert redact_arguments(argv) == argv


def test_long_arguments_take_no_time() -> None:
    word = "x" * 200_000
    assert redact_arguments([word, word + "="]) == (word, word + "=")


@given(
    name=st.sampled_from(["api-key", "hf_token", "DB_PASSWORD", "client.secret", "authToken"]),
    value=st.text(st.characters(categories=["Lu", "Ll", "Nd"]), min_size=6, max_size=30).map(lambda text: "q" + text),
    form=st.sampled_from(
        ["--{n}={v}", "{n}={v}", "--{n}|{v}", "-{n}|{v}", "sh|-c|x --{n} {v} y", "++{n}={v}", "{n}: '{v}'"]
    ),
)
def test_no_form_shows_the_value(name: str, value: str, form: str) -> None:
    argv = ["run", *form.format(n=name, v=value).split("|"), "--epochs", "3"]
    shown = redact_arguments(argv)
    assert value not in " ".join(shown)
    assert shown[-2:] == ("--epochs", "3")
