"""How docs/json.md writes the types of a document's fields."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from enum import EnumType
from typing import Any

import msgspec

NAMES = {str: "text", int: "integer", float: "number", bool: "true or false", type(None): "null", Any: "anything"}


def describe(type_: Any) -> str:
    """A type as a person reads it: `list of Candidate`, `number or null`."""
    origin = typing.get_origin(type_)
    arguments = typing.get_args(type_)
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(describe(argument) for argument in sorted(arguments, key=lambda one: one is type(None)))
    if origin is tuple:
        inner = describe(arguments[0])
        return f"list of ({inner})" if " or " in inner else f"list of {inner}"
    if origin is dict:
        return f"object of {describe(arguments[1])} by name"
    if isinstance(type_, EnumType):
        return "text"
    return NAMES[type_] if type_ in NAMES else f"[{type_.__name__}](#{type_.__name__.lower()})"


def structs_in(type_: Any) -> Iterator[type[msgspec.Struct]]:
    """The structures that a field's type mentions."""
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        yield type_
    for argument in typing.get_args(type_):
        yield from structs_in(argument)


def reachable(*roots: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """The roots and every structure inside them, in the order of first mention."""
    found: list[type[msgspec.Struct]] = []
    waiting = list(roots)
    while waiting:
        one = waiting.pop(0)
        if one not in found:
            found.append(one)
            waiting.extend(inner for field in msgspec.structs.fields(one) for inner in structs_in(field.type))
    return found
