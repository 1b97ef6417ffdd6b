"""Take pictures of panels, to be looked at: in GPUSCOPE_PICTURES, else in the test's own folder."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget


def save_picture(widget: QWidget, name: str, tmp_path: Path) -> QImage:
    """Save what a widget shows now as NAME.png, and return it."""
    folder = Path(os.environ.get("GPUSCOPE_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    picture = widget.grab()
    assert picture.save(str(folder / f"{name}.png"))
    return picture.toImage()


def colours_in(image: QImage) -> int:
    """How many different colours a picture has on a coarse grid: a blank one has one or two."""
    return len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)})
