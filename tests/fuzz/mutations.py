"""From real files to damaged ones, by a number: the same number always gives the same file."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.fuzz.mutating.binaries import binaries_for, compressed
from tests.fuzz.mutating.plain import PLAIN
from tests.fuzz.mutating.texts import texts_for

_MOST_BYTES = 200_000
_FORM_KEPT = 0.4
"""Share of the damage that keeps the file's form, where that is known."""
_PACKED = 0.02


def mutated(seeds: Sequence[bytes], number: int) -> bytes:
    """The variant of a number: always the same for the same seeds and number."""
    chance = random.Random(number)
    data = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        data = _damaged(data, seeds, chance)[:_MOST_BYTES]
    return data


def _damaged(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    if chance.random() < _PACKED:
        return compressed(data, seeds, chance)
    if chance.random() < _FORM_KEPT:
        return chance.choice(binaries_for(data) or texts_for(data))(data, seeds, chance)
    return chance.choice(PLAIN)(data, seeds, chance)
