"""Why a figure is missing: each reason has a sentence and a state."""

from __future__ import annotations

import pytest

from gpuscope.domain.reasons import REASON_SENTENCES, FieldState, Reason, field_state


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_a_sentence(reason: Reason) -> None:
    sentence = REASON_SENTENCES[reason]
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert field_state(reason) is not FieldState.OK


def test_states() -> None:
    assert field_state(None) is FieldState.OK
    assert field_state(Reason.VGPU) is FieldState.UNSUPPORTED
    assert field_state(Reason.NO_PERMISSION) is FieldState.DENIED
    assert field_state(Reason.TIMEOUT) is FieldState.TRANSIENT
    assert field_state(Reason.STALE) is FieldState.STALE
    assert field_state(Reason.GPU_LOST) is FieldState.GONE
