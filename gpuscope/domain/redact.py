"""Replace secrets in what people type before it is written anywhere.

A secret is recognised by its name (`HF_TOKEN=…`, `--api-key …`), by its form (`hf_…`, `sk-…`), or by its place
(`https://user:password@host`). Hiding too much only makes a title less readable, so doubtful names are hidden;
names that training scripts use all the time (`--max-tokens`, `--pad-token`, `--key-dim`) are not doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HIDDEN = "***"

_ALWAYS = ("password", "passwd", "passphrase", "secret", "credential", "apikey", "authtoken", "webhook")
"""Parts of a name that mean a secret wherever they stand, also inside a word (PGPASSWORD)."""
_WORDS = frozenset({"auth", "authorization", "authentication", "bearer", "cookie"})
"""Whole words that mean a secret wherever they stand (AUTHOR is none)."""
_JOINED_ENDINGS = ("accesskey", "privatekey", "sshkey", "authkey", "accesstoken", "apitoken")
_NOT_A_SECRET_KEY = frozenset({
    "audio", "batch", "cache", "caption", "column", "data", "dataset", "dict", "feature", "foreign", "group", "image",
    "index", "input", "json", "label", "metric", "monitor", "num", "output", "partition", "primary", "prompt", "public",
    "query", "sort", "state", "target", "text", "value", "video",
})  # fmt: skip
"""`--image-key jpg`, `--sort-key length` name columns."""
_NOT_A_SECRET_TOKEN = frozenset({
    "begin", "bos", "class", "cls", "decoder", "end", "eos", "first", "image", "last", "mask", "max", "new", "next",
    "num", "pad", "patch", "per", "sep", "special", "start", "stop", "target", "text", "unk", "vision",
})  # fmt: skip
"""`--pad-token`, `--eos-token` are pieces of a vocabulary."""
_HARMLESS_VALUES = frozenset({"", "true", "false", "yes", "no", "none", "null", "on", "off", "0", "1"})
_SIGNATURES = frozenset({"sig", "signature"})

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_FORMS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|gh[opsur]_[A-Za-z0-9]{16,}"
    r"|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|nvapi-[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{16,}|r8_[A-Za-z0-9]{16,}"
    r"|pypi-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{16,}|wandb_v1_[A-Za-z0-9_]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"
)
"""Tokens that say by their beginning what they are: Hugging Face, OpenAI, GitHub, GitLab, AWS, Google, Slack, NVIDIA,
Groq, Replicate, PyPI, npm, Weights & Biases, JSON web tokens."""
_URL_PASSWORD = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]*://[^/\s:@'\"]*):([^/\s'\"]+)@")
_URL_TOKEN = re.compile(r"(https?://)([^/\s:@'\"]{16,})@")
_BEARER = re.compile(r"\b(bearer|basic)(\s+)([A-Za-z0-9+/=._~-]{8,})", re.IGNORECASE)
_NAMED = re.compile(r"(?<![\w.-])(?P<name>-{0,2}[A-Za-z_][\w.-]*)(?P<between>[\"']?\s*[=:]\s*|\s+)(?=[^\s=:])")
"""What may stand before a value in a text: `NAME=`, `?name=`, `"name": `, `--name `."""
_QUOTED = re.compile(r"([\"'])(?P<value>.*?)(?=\1)", re.DOTALL)
_AFTER_EQUALS = re.compile(r"(?P<value>[^\s\"'&;]+)")
_AFTER_COLON = re.compile(r"(?P<value>[^\s\"'&;,}]+)")
_AFTER_BLANK = re.compile(r"(?P<value>[^\s\"'-][^\s\"']*)")


def is_secret_name(name: str) -> bool:
    """True when a variable, option or field of this name usually holds a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] == "id"):  # HF_TOKEN_2, AWS_ACCESS_KEY_ID
        words.pop()
    if not words:
        return False
    joined, last, before = "".join(words), words[-1], words[-2] if len(words) > 1 else ""
    if any(part in joined for part in _ALWAYS) or not _WORDS.isdisjoint(words):
        return True
    if last == "token":
        return before not in _NOT_A_SECRET_TOKEN
    if last == "key":
        return before not in _NOT_A_SECRET_KEY
    if last in {"pwd", "pat"}:  # PWD alone is the working folder
        return before != "" and before != "old"
    return joined.endswith(_JOINED_ENDINGS)


def redact_text(text: str) -> str:
    """The text with the secrets in it replaced: by form, by place in a URL, by the name before them."""
    text = _FORMS.sub(HIDDEN, text)
    text = _URL_PASSWORD.sub(rf"\1:{HIDDEN}@", text)
    text = _URL_TOKEN.sub(rf"\1{HIDDEN}@", text)
    text = _BEARER.sub(rf"\1\2{HIDDEN}", text)
    return _hide_named(text)


def redact_arguments(argv: Iterable[str]) -> tuple[str, ...]:
    """A command line with its secrets replaced; options whose value is the next argument are understood."""
    shown: list[str] = []
    secret_follows = False
    for argument in argv:
        is_option = argument.startswith("--") or bool(re.fullmatch(r"-[A-Za-z]", argument))
        if secret_follows and not is_option:
            shown.append(argument if argument.lower() in _HARMLESS_VALUES else HIDDEN)
            secret_follows = False
            continue
        secret_follows = argument.startswith("-") and "=" not in argument and is_secret_name(argument)
        shown.append(_redact_argument(argument))
    return tuple(shown)


def redact_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables with secret values replaced."""
    return {
        name: HIDDEN if is_secret_name(name) and value.lower() not in _HARMLESS_VALUES else redact_text(value)
        for name, value in environment.items()
    }


def _redact_argument(argument: str) -> str:
    name, equals, value = argument.partition("=")
    if equals and re.fullmatch(r"[-+]*[\w.-]+", name) and is_secret_name(name):  # the value may hold blanks
        return argument if value.lower() in _HARMLESS_VALUES else f"{name}={HIDDEN}"
    return redact_text(argument)


def _hide_named(text: str) -> str:
    shown, done = "", 0
    for match in _NAMED.finditer(text):
        value = _value_after(match) if match.start() >= done and _names_secret(match) else None
        if value is not None and value["value"].lower() not in _HARMLESS_VALUES:
            shown += text[done : value.start("value")] + HIDDEN
            done = value.end()
    return shown + text[done:]


def _names_secret(match: re.Match[str]) -> bool:
    name = match["name"]
    if match["between"].isspace() and not name.startswith("-"):  # words of a sentence
        return False
    return is_secret_name(name) or name.lower().rpartition("-")[2] in _SIGNATURES


def _value_after(match: re.Match[str]) -> re.Match[str] | None:
    quoted = _QUOTED.match(match.string, match.end())
    if quoted is not None:
        return quoted
    mark = match["between"].strip("\"' \t\r\n")
    pattern = {"=": _AFTER_EQUALS, ":": _AFTER_COLON}.get(mark, _AFTER_BLANK)
    return pattern.match(match.string, match.end())
