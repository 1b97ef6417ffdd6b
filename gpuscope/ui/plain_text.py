"""Text of others in tooltips, which Qt takes for markup when there are tags in it."""

from __future__ import annotations

import html

from PySide6.QtGui import Qt


def as_plain(text: str) -> str:
    """What a tooltip has to be given so that it shows the text as it is."""
    return f"<qt>{html.escape(text)}</qt>".replace("\n", "<br>") if Qt.mightBeRichText(text) else text
