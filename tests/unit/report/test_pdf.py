"""The PDF: its text agrees with the figures, it is navigable, and strangers' text in it is inert."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import BytesIO

import msgspec
import pypdf
import pypdfium2
import pytest

from gpuscope.domain.footprint import Footprint, FootprintSource
from gpuscope.domain.recommendation import CandidateMemory, Rejected
from gpuscope.report.choice_tables import MAX_CANDIDATES
from gpuscope.report.format import figure_text, optional
from gpuscope.report.model import Report
from gpuscope.report.pdf import pdf_bytes
from tests.builders import build_candidate, build_footprint, build_impossible, build_recommendation, failed
from tests.unit.report.conftest import pdf_text

MakeReport = Callable[..., Report]

ODD_NAME = (
    "train_学習.py <b>bold</b> <script>alert(1)</script> =cmd|calc \x1b[31mred\x1b[0m \u202egnp.exe \u200b"
    + "W" * 10_000
)


def test_text_agrees_with_footprint_and_recommendation(make_report: MakeReport) -> None:
    report = make_report()
    text = pdf_text(pdf_bytes(report))
    for group in report.evidence.groups:
        for figure in group.figures:
            assert figure_text(figure) in text, figure
    for ranked in report.candidates:
        candidate = ranked.candidate
        assert ranked.name in text
        assert optional(candidate.step_time_s, "s_per_step") in text
        assert optional(candidate.time_to_finish_s, "s") in text
        assert optional(candidate.cost_usd, "usd") in text
    for part in report.evidence.breakdown:
        assert figure_text(part) in text
    assert report.decision.paragraph in text
    assert report.session.session_id in text


def test_everything_that_must_be_said_is_said(make_report: MakeReport) -> None:
    report = make_report()
    text = pdf_text(pdf_bytes(report))
    for sentence in (*report.assumptions, report.sensitivity[0].sentence, report.decision.confidence_sentence):
        assert sentence in text
    for group in report.rejections:
        for rejected in group.rejected:
            assert rejected.reason in text
    for price in report.prices:
        assert price.price_date is not None
        assert price.price_date in text
        assert price.source_url in text
    for word in ("Approval", "Signature", "Requirement", "Prices", "Appendix"):
        assert word in text


def test_outline_pages_and_metadata(make_report: MakeReport) -> None:
    document = pypdf.PdfReader(BytesIO(pdf_bytes(make_report())))
    titles = [entry.title for entry in document.outline if not isinstance(entry, list)]
    assert titles[:4] == ["Decision", "Requirement", "Measured evidence", "The run over time"]
    assert "Appendix: raw figures" in titles
    assert document.metadata is not None
    assert document.metadata.title == "GPU recommendation for train.py --epochs 3"
    count = len(document.pages)
    for number, page in enumerate(document.pages, start=1):
        assert f"Page {number} of {count}" in page.extract_text()
        assert float(page.mediabox.width) == pytest.approx(595.28, abs=0.1)


def test_unknown_figures_are_a_dash_with_a_reason(make_report: MakeReport) -> None:
    text = pdf_text(pdf_bytes(make_report(gpus=0)))
    assert "– Allocated at the peak, Reserved at the peak, On the device at the peak: The job ran on the CPU." in text
    assert "– GPU power: No GPU was seen in this session." in text


def test_strangers_text_is_inert(make_report: MakeReport) -> None:
    content = pdf_bytes(make_report(gpu_name=ODD_NAME, display=ODD_NAME.replace("/", "|"), steps=10))
    text = pdf_text(content)
    assert "<b>bold<|b>" in text  # shown, not obeyed
    assert "<script>alert(1)</script>" in text
    assert not {"\x1b", "\u202e", "\u200b"} & set(text)
    assert "A box stands for a character" in text
    for forbidden in (b"/JavaScript", b"/JS", b"/Launch", b"/EmbeddedFile", b"/URI"):
        assert forbidden not in content


def test_characters_without_a_glyph_print_as_a_box(make_report: MakeReport) -> None:
    def ink(display: str) -> int:
        document = pypdfium2.PdfDocument(pdf_bytes(make_report(display=display, steps=3)))
        picture = document[0].render(scale=1).to_pil().convert("L")
        document.close()
        return sum(picture.histogram()[:200])

    assert ink("a 学学学学学学") > ink("a") + 50


@pytest.mark.parametrize("gpus", [0, 2])
def test_a_failed_and_impossible_case(make_report: MakeReport, gpus: int) -> None:
    report = make_report(gpus=gpus, outcome=failed(), steps=5, recommendation=build_impossible())
    text = pdf_text(pdf_bytes(report))
    assert "Not possible within the limits" in text
    assert "The script failed with FileNotFoundError." in text
    assert "Takes 34 h, 1 h is allowed." in text


def test_a_session_without_steps_and_samples(make_report: MakeReport) -> None:
    report = make_report(gpus=0, steps=0, gap=(-1.0, 1e9), footprint=build_footprint(gpus=0, steps=0))
    text = pdf_text(pdf_bytes(report))
    assert "– Step time: No steps were seen." in text
    assert "– CPU, of all threads: Nothing was sampled." in text


def test_many_gpus_and_candidates_break_well_and_fast(make_report: MakeReport) -> None:
    start = time.perf_counter()
    report = make_report(gpus=64, steps=100, recommendation=build_recommendation(64, 200))
    content = pdf_bytes(report)
    assert time.perf_counter() - start < 5
    pages = [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(BytesIO(content)).pages]
    with_rows = [page for page in pages if "examplecloud g" in page and "basis: specification" in page]
    assert len(with_rows) > 1
    assert all("Memory per GPU" in page for page in with_rows)  # the heading is repeated
    everything = " ".join(pages)
    assert all(ranked.name in everything for ranked in report.candidates[:MAX_CANDIDATES])


def test_the_table_ends_after_the_best_candidates_but_keeps_alternates(make_report: MakeReport) -> None:
    candidates = tuple(build_candidate(index) for index in range(80))
    recommendation = msgspec.structs.replace(build_recommendation(), candidates=candidates, alternates=(1, 75))
    text = pdf_text(pdf_bytes(make_report(recommendation=recommendation)))
    assert f"{80 - MAX_CANDIDATES - 1} more candidates" in text
    assert "NVIDIA Example 75 (alternate)" in text
    assert f"NVIDIA Example {MAX_CANDIDATES - 1}" in text
    assert "examplecloud g70" not in text.partition("Recommended configuration")[0]


def test_columns_that_nobody_has_are_left_out(make_report: MakeReport) -> None:
    bare = [build_candidate(index, time_to_finish_s=None, cost_usd=None, energy_kwh=None) for index in range(3)]
    recommendation = msgspec.structs.replace(build_recommendation(), candidates=tuple(bare), sentence="Rent it.")
    report = make_report(recommendation=recommendation)
    text = pdf_text(pdf_bytes(report))
    assert "Energy, kWh" not in text
    assert "Cost per hour, USD, against step time" in text
    missing = {figure.key: figure.missing for figure in report.configuration}
    assert missing["choice.time"] == missing["choice.cost"] == "The amount of work was not given."


def test_the_machine_at_hand_is_a_band_not_a_price(make_report: MakeReport) -> None:
    at_hand = build_candidate(0, acquisition="keep", offer=None, cost_usd=None, cost_usd_per_hour=None,
                              memory=CandidateMemory())  # fmt: skip
    candidates = (at_hand, *(build_candidate(index) for index in range(1, 4)))
    recommendation = msgspec.structs.replace(build_recommendation(), candidates=candidates, sentence="Keep it.")
    report = make_report(recommendation=recommendation)
    text = pdf_text(pdf_bytes(report))
    assert "1: at hand, costs nothing more" in text
    assert report.needs_quote == ()
    missing = {figure.key: figure.missing for figure in report.configuration}
    assert missing["choice.cost"] == "It is the machine at hand."


def test_rejections_share_a_row_a_gpu(make_report: MakeReport) -> None:
    rejected = tuple(
        Rejected(gpu="t4", gpu_name="Tesla T4", count=count, reason_code="memory",
                 reason=f"{count}× Tesla T4: it needs {20 - count} GiB.")
        for count in (1, 2, 4)
    )  # fmt: skip
    recommendation = msgspec.structs.replace(build_recommendation(), rejected=rejected)
    text = pdf_text(pdf_bytes(make_report(recommendation=recommendation)))
    assert "Not enough memory (3)" in text
    assert "1, 2, 4 × Tesla T4" in text
    assert "It needs 16 GiB." in text


def test_a_reason_that_many_share_is_said_once(make_report: MakeReport) -> None:
    rejected = tuple(
        Rejected(gpu=f"g{index}", gpu_name=f"GPU {index}", count=1, reason_code="no_offer",
                 reason=f"1× GPU {index}: nobody offers it.")
        for index in range(60)
    )  # fmt: skip
    recommendation = msgspec.structs.replace(build_recommendation(), rejected=rejected)
    text = pdf_text(pdf_bytes(make_report(recommendation=recommendation)))
    assert text.count("Nobody offers it.") == 1
    assert all(f"1 × GPU {index}" in text for index in range(60))


def test_each_source_of_prices_is_named_once(make_report: MakeReport) -> None:
    text = pdf_text(pdf_bytes(make_report(recommendation=build_recommendation(20, 0))))
    assert text.count("https://example.com/prices") == 1
    assert text.count("examplecloud g") > 20


def test_a_recording_is_not_called_a_run(make_report: MakeReport) -> None:
    report = make_report(recording=True, footprint=Footprint(source=FootprintSource(kind="measured")))
    assert report.workload == "a recording of the machine"
    assert report.evidence.source_sentence.startswith("The machine was recorded")


def test_no_page_is_empty_and_nothing_is_cut(make_report: MakeReport) -> None:
    document = pypdfium2.PdfDocument(pdf_bytes(make_report(gpus=8, recommendation=build_recommendation(20, 40))))
    for page in document:
        picture = page.render(scale=1).to_pil().convert("L")
        width, height = picture.size
        dark = picture.point(lambda value: 255 if value < 240 else 0)
        left, top, right, bottom = dark.getbbox()
        margin = 45
        assert left >= margin
        assert top >= margin
        assert right <= width - margin
        assert bottom <= height - margin + 4
        assert dark.crop((0, 80, width, height - 90)).getbbox() is not None
    document.close()
