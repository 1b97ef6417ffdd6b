"""Values as keys of caches by identity: for those that are dear to hash and stay the same object during a search."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Same(Generic[T]):
    """Equal to another one of the very same object. Holds it, so that its identity is not given to another."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        """By identity."""
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        """Of the identity."""
        return id(self.value)
