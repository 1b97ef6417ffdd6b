"""How the PDF looks: one type family, three sizes, quiet surfaces, colours that colour-blind people can tell apart."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

import reportlab
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_LEFT, TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph

REGULAR = "Vera"
BOLD = "VeraBd"

TITLE_SIZE = 17.0
HEADING_SIZE = 10.0
BODY_SIZE = 7.5

PAGE_WIDTH, PAGE_HEIGHT = A4
MARGIN = 18 * mm
CONTENT_WIDTH = PAGE_WIDTH - 2 * MARGIN

INK = HexColor("#1A2026")
GREY = HexColor("#5A6672")
RULE = HexColor("#C8D0D8")
GRID = HexColor("#E6EAEE")
PANEL = HexColor("#F4F6F8")
ACCENT = HexColor("#0072B2")
TROUBLE = HexColor("#D55E00")

# Okabe and Ito, "Color Universal Design" (2008), ordered for light paper: yellow, which is hard to see there, is last.
SERIES_COLOURS: tuple[Color, ...] = tuple(
    map(HexColor, ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442"))
)

_SUBSTITUTES = str.maketrans({"→": "->", "←": "<-", "✓": "yes", "✗": "no", "\u2009": " ", "\u202f": " ", "\u2011": "-"})
"""Characters that sentences use and the typeface lacks."""


@cache
def register_fonts() -> frozenset[int]:
    """Make the typeface known to reportlab; returns the characters that it has.

    Bitstream Vera comes with reportlab, under a licence that allows embedding.
    """
    folder = Path(reportlab.__file__).parent / "fonts"
    for name in (REGULAR, BOLD):
        pdfmetrics.registerFont(TTFont(name, str(folder / f"{name}.ttf")))
    pdfmetrics.registerFontFamily(REGULAR, normal=REGULAR, bold=BOLD, italic=REGULAR, boldItalic=BOLD)
    return frozenset(pdfmetrics.getFont(REGULAR).face.charToGlyph)


def printable(text: str) -> str:
    """Text with typographic characters that the typeface lacks replaced; others it lacks print as a box."""
    return text.translate(_SUBSTITUTES)


def lacks(text: str) -> bool:
    """True when the text has a character that prints as a box."""
    return any(ord(character) not in register_fonts() for character in printable(text) if not character.isspace())


def style(
    size: float = BODY_SIZE, *, bold: bool = False, colour: Color = INK, right: bool = False, before: float = 0.0
) -> ParagraphStyle:
    """A paragraph style out of the few that there are."""
    register_fonts()
    return ParagraphStyle(
        "gpuscope",
        fontName=BOLD if bold else REGULAR,
        fontSize=size,
        leading=size * 1.36,
        textColor=colour,
        alignment=TA_RIGHT if right else TA_LEFT,
        spaceBefore=before,
        splitLongWords=1,
        bulletFontName=REGULAR,
        bulletFontSize=size,
    )


def paragraph(text: str, look: ParagraphStyle, *, bullet: str | None = None) -> Paragraph:
    """Text that is shown as it is: nothing in it is markup."""
    return Paragraph(escape(printable(text)), look, bulletText=bullet)


def text_width(text: str, *, bold: bool = False, size: float = BODY_SIZE) -> float:
    """Width in points."""
    register_fonts()
    return float(pdfmetrics.stringWidth(text, BOLD if bold else REGULAR, size))
