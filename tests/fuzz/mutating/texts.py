"""Damage that keeps a text's form: JSON that is still JSON, XML with tags, tables with columns."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from tests.fuzz.mutating.extremes import NUMBERS, VALUES, WORDS
from tests.fuzz.mutating.plain import Mutation

_TAG = re.compile(rb"<[^<>]*>")
_SEPARATORS = (b",", b", ", b";", b"\t", b"|", b" ")
_ENTITIES = (
    b'<!DOCTYPE nvidia_smi_log [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    b'<!DOCTYPE nvidia_smi_log SYSTEM "file:///etc/passwd">',
    b'<!DOCTYPE nvidia_smi_log [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    b'<!DOCTYPE nvidia_smi_log [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
)


def json_changed(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """One place of a JSON document changed: another value, type, name, a place left out or nested without end."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    for _number in range(chance.choice((1, 1, 1, 4))):
        document = _changed(document, chance)
    if chance.random() < 0.05:
        text = json.dumps(document)
        deep = chance.choice((60, 2000, 50_000))
        return text.replace("null", "[" * deep + "]" * deep, 1).encode(errors="replace")
    return json.dumps(document, indent=chance.choice((None, None, 2))).encode(errors="replace")


def _changed(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.15 or not isinstance(value, (dict, list)) or not value:
        return chance.choice(VALUES)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        if chance.random() < 0.2:
            return value[:at] + value[at + 1 :] if chance.random() < 0.5 else [*value, *value[at : at + 1] * 100]
        return [*value[:at], _changed(value[at], chance), *value[at + 1 :]]
    name = chance.choice(list(value))
    changed = dict(value)
    if chance.random() < 0.2:
        part = changed.pop(name)
        if chance.random() < 0.5:
            changed[chance.choice((name.upper(), "", name + "\0", chance.choice(list(value))))] = part
        return changed
    changed[name] = _changed(value[name], chance)
    return changed


def xml_changed(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """Tags left out, doubled, renamed, nested without end; declarations that no report has."""
    tags = [match.span() for match in _TAG.finditer(data)]
    if not tags:
        return data
    start, end = chance.choice(tags)
    match chance.randrange(6):
        case 0:
            return data[:start] + data[end:]
        case 1:
            return data[:end] + data[start:end] * chance.choice((1, 30, 3000)) + data[end:]
        case 2:
            return data[:start] + b"<" + chance.choice(WORDS) + data[start + 1 :]
        case 3:
            return chance.choice(_ENTITIES) + data[data.find(b"<nvidia_smi_log") :].replace(b">N/A<", b">&b;&x;<", 2)
        case 4:
            return (
                data[:end] + chance.choice((*NUMBERS, b"<![CDATA[x]]>", b"<!-- x -->", b"&#0;", b"&amp;")) + data[end:]
            )
        case _:
            other, other_end = chance.choice(tags)
            return data[:start] + data[other:other_end] + data[end:]


def table_changed(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """Cells of a table changed, left out or added; columns changed with one another; another separator or quotes."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    separator = max(_SEPARATORS, key=lines[at].count)
    cells = lines[at].split(separator)
    one, other = chance.randrange(len(cells)), chance.randrange(len(cells))
    match chance.randrange(7):
        case 0:
            cells[one] = chance.choice((*NUMBERS, *WORDS))
        case 1:
            cells[one], cells[other] = cells[other], cells[one]
        case 2:
            del cells[one]
        case 3:
            cells[one:one] = [cells[other]] * chance.choice((1, 2, 500))
        case 4:
            cells[one] = b'"' + cells[one] + chance.choice((b'"', b"", b'""', b"\n"))
        case 5:
            return _columns_swapped(lines, separator, one, other)
        case _:
            return data.replace(separator, chance.choice(_SEPARATORS))
    lines[at] = separator.join(cells)
    return b"\n".join(lines)


def _columns_swapped(lines: list[bytes], separator: bytes, one: int, other: int) -> bytes:
    rows = [line.split(separator) for line in lines]
    for row in rows:
        if max(one, other) < len(row):
            row[one], row[other] = row[other], row[one]
    return b"\n".join(separator.join(row) for row in rows)


def texts_for(data: bytes) -> tuple[Mutation, ...]:
    """What fits to a text, by how it begins."""
    start = data.lstrip()[:1]
    if start in {b"{", b"["}:
        return (json_changed,)
    return (xml_changed, table_changed) if start == b"<" else (table_changed,)
