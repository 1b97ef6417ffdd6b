"""The guided form: what unfolds, undo and redo, presets, quotes, what is remembered."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from gpuscope.domain.architecture import Architecture
from gpuscope.domain.serving import ServingTarget
from gpuscope.errors import UsageError
from gpuscope.ui import theme
from gpuscope.ui.advisor.form.constraints import Choices, ConstraintsForm
from gpuscope.ui.advisor.form.history import KEPT, FormHistory
from gpuscope.ui.advisor.form.model import EstimateForm
from gpuscope.ui.advisor.form.presets import PresetStore
from gpuscope.ui.advisor.form.quote_files import quotes_of_file
from gpuscope.ui.advisor.form.texts import ConstraintTexts, QuoteTexts
from gpuscope.ui.advisor.sources import engine_sources
from gpuscope.ui.widgets.checklist_button import ChecklistButton
from tests.ui.panel_pictures import save_picture

CHOICES = Choices(
    providers=[("aws", "aws"), ("lambda", "lambda")], regions=[("us-east-1", "us-east-1")],
    vendors=[("NVIDIA", "NVIDIA")], gpus=[("l40s", "L40S"), ("t4", "T4")], form_factors=[("PCIe", "PCIe")],
)  # fmt: skip
EVERYTHING = ConstraintTexts(
    stage="inference", deadline="36h", total="50k", prompt_tokens="1000", output_tokens="250",
    time_to_first_token="500", inter_token_latency="50 ms", latency="20s", requests_per_second="12",
    concurrent_users="40", load_shape="own", hourly_load=" ".join(["1"] * 24), weight_dtypes=("int8",),
    cache_dtype="float8", minimum_memory="40", minimum_throughput="100", precision="bfloat16",
    precisions=("float16",), compiled="yes", counts="1, 2", max_nodes="1", interconnects=("nvlink",),
    networks=("infiniband",), acquisition="rent", budget="1k", budget_per_hour="20", gpus=("l40s",),
    vendors=("NVIDIA",), providers=("aws",), regions=("us-east-1",), residency="DE, EU", form_factors=("PCIe",),
    power_limit="1.4kW", rack_power="10kW", ecc=True, datacenter_licence=True, currency="eur", currency_per_usd="0.9",
    tax="19%", electricity="0.3", power_usage_effectiveness="1.3", hosting="150", support="5", staff="20k",
    finance="4", residual="20", machine="30", hours_per_month="500", years="1, 3", reserved_discount="30",
    use_spot=True, spot_interruptions="2", spot_restart="10min", checkpoint_interval="30min",
    quotes=(QuoteTexts(gpu="l40s", count="8", price="90k", vendor="A shop"),),
)  # fmt: skip


@pytest.fixture
def form(qtbot: QtBot, qapp: QApplication) -> ConstraintsForm:
    theme.apply_theme(qapp, theme.Mode.LIGHT)
    widget = ConstraintsForm(PresetStore())
    widget.offer(CHOICES)
    qtbot.addWidget(widget)
    widget.resize(380, 900)
    widget.show()
    return widget


def line(form: ConstraintsForm, name: str) -> QLineEdit:
    widget = form.editor_widget(name)
    assert isinstance(widget, QLineEdit)
    return widget


def now() -> datetime:
    return datetime.now().astimezone()


def test_every_field_comes_back_and_becomes_a_constraint(form: ConstraintsForm) -> None:
    form.set_texts(EVERYTHING)
    assert form.texts() == EVERYTHING
    found = form.read(now())
    assert found is not None
    assert found.serving == ServingTarget(
        prompt_tokens=1000, output_tokens=250, time_to_first_token_s=0.5, inter_token_latency_s=0.05, latency_s=20,
        requests_per_second=12, concurrent_users=40, hourly_load=(1.0,) * 24, weight_dtypes=("int8",),
        cache_dtype="float8",
    )  # fmt: skip
    assert found.minimum_memory_bytes == 40 * 1024**3
    assert (found.residency, found.ecc, found.compiled, found.max_nodes) == (("DE", "EU"), True, True, 1)
    money = found.economics
    assert (money.currency, money.currency_per_usd, money.tax_share) == ("EUR", 0.9, 0.19)
    assert (money.support_share_per_year, money.residual_share, money.years) == (0.05, 0.2, (1, 3))
    assert (money.use_spot, money.spot_restart_s, money.checkpoint_interval_s) == (True, 600, 1800)
    assert (money.quotes[0].count, money.quotes[0].price, money.quotes[0].vendor) == (8, 90_000, "A shop")


def test_no_field_is_left_out_of_the_form(form: ConstraintsForm) -> None:
    assert set(form._editors) == set(ConstraintTexts.__struct_fields__)
    for name, editor in form._editors.items():
        assert editor.widget.accessibleName(), name
        assert editor.widget.toolTip() or editor.widget.parentWidget().toolTip(), f"{name} says what it means on hover"


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("tax", "120", "percentage"),
        ("power_usage_effectiveness", "0.5", "1.0 to 3.0"),
        ("hours_per_month", "800", "744"),
        ("currency", "euro", "three letters"),
        ("minimum_memory", "lots", "40 GiB"),
        ("time_to_first_token", "fast", "200 ms"),
        ("years", "1, 20", "1 to 10"),
        ("max_nodes", "0", "at least 1"),
        ("minimum_throughput", "0", "above 0"),
    ],
)
def test_a_mistake_is_said_at_its_field_and_opens_its_section(
    form: ConstraintsForm, field: str, text: str, said: str
) -> None:
    form.set_texts(msgspec.structs.replace(ConstraintTexts(stage="inference"), **{field: text}))
    assert form.read(now()) is None
    assert said in line(form, field).accessibleDescription()
    assert line(form, field).isVisible()
    assert line(form, field).text() == text, "nothing is lost"


def test_amounts_are_typed_in_the_currency_that_stands_beside_them(form: ConstraintsForm) -> None:
    amounts = {"budget": "900", "budget_per_hour": "1.8", "electricity": "0.27", "hosting": "90", "staff": "9k"}
    form.set_texts(ConstraintTexts(currency="eur", currency_per_usd="0.9", **amounts))
    found = form.read(now())
    assert found is not None
    assert (found.budget_usd, found.budget_usd_per_hour) == (pytest.approx(1000), pytest.approx(2))
    money = found.economics
    assert money.electricity_usd_per_kwh == pytest.approx(0.3)
    assert (money.hosting_usd_per_kw_month, money.staff_usd_per_year) == (pytest.approx(100), pytest.approx(10_000))
    for name in amounts:
        assert "EUR" in form.editor_widget(name).accessibleName()
    form.set_texts(ConstraintTexts(budget="900"))
    assert "$" in form.editor_widget("budget").accessibleName()
    dollars = form.read(now())
    assert dollars is not None
    assert dollars.budget_usd == 900


def test_what_belongs_together_is_asked_for(form: ConstraintsForm) -> None:
    form.set_texts(ConstraintTexts(currency="JPY"))
    assert form.read(now()) is None
    assert "How many JPY" in line(form, "currency_per_usd").accessibleDescription()
    form.set_texts(ConstraintTexts(stage="inference", load_shape="own", hourly_load="1 2 3"))
    assert form.read(now()) is None
    assert "there are 3" in line(form, "hourly_load").accessibleDescription()


def test_a_service_is_asked_about_only_for_inference(form: ConstraintsForm) -> None:
    service = form.sections[1]
    assert service.name == "service"
    assert not service.isVisible()
    form.set_measured_stage("inference")
    assert service.isVisible()
    form.set_texts(ConstraintTexts(stage="training", prompt_tokens="1000"))
    assert not service.isVisible()
    found = form.read(now())
    assert found is not None
    assert found.serving is None, "what is hidden does not count"


def test_a_folded_section_says_what_is_set(form: ConstraintsForm) -> None:
    machines = next(section for section in form.sections if section.name == "machines")
    form.set_texts(ConstraintTexts(counts="1, 2", interconnects=("nvlink",)))
    assert machines.fold._summary.toolTip() == "1, 2 · NVLink"
    machines.fold.set_open(True)
    assert machines.fold._summary.toolTip() == ""


def test_undo_and_redo_go_through_the_whole_form(qtbot: QtBot, form: ConstraintsForm) -> None:
    assert not form.tools.undo.isEnabled()
    qtbot.keyClicks(line(form, "deadline"), "36h")
    form._note()
    combo = form.editor_widget("acquisition")
    assert isinstance(combo, QComboBox)
    combo.setCurrentIndex(1)
    form._note()
    box = form.editor_widget("ecc")
    assert isinstance(box, QCheckBox)
    box.setChecked(True)
    qtbot.mouseClick(form.tools.undo, Qt.MouseButton.LeftButton)
    assert form.texts() == ConstraintTexts(deadline="36h", acquisition="rent")
    line(form, "deadline").setFocus()
    qtbot.keyClick(line(form, "deadline"), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert form.texts() == ConstraintTexts(deadline="36h")
    qtbot.keyClick(line(form, "deadline"), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert form.texts() == ConstraintTexts()
    for _ in range(3):
        form.redo()
    assert form.texts() == ConstraintTexts(deadline="36h", acquisition="rent", ecc=True)
    form.reset()
    assert form.texts() == ConstraintTexts()
    form.undo()
    assert form.texts().ecc, "reset can be undone, too"


def test_the_history_forgets_what_was_undone_and_is_bounded() -> None:
    history = FormHistory(ConstraintTexts())
    for number in range(KEPT + 5):
        history.note(ConstraintTexts(total=str(number)))
    assert len(history._states) == KEPT
    before = history.undo()
    history.note(ConstraintTexts(total="other"))
    assert not history.can_redo
    assert history.undo() == before


def test_the_form_is_remembered_between_starts(qtbot: QtBot, form: ConstraintsForm) -> None:
    form.set_texts(EVERYTHING)
    form.read(now())
    again = ConstraintsForm(PresetStore())
    qtbot.addWidget(again)
    assert again.texts() == EVERYTHING, "before the catalogue is read, too"
    again.offer(CHOICES)
    assert again.texts() == EVERYTHING


def test_what_is_unfolded_is_remembered_between_starts(qtbot: QtBot, form: ConstraintsForm) -> None:
    by_name = {section.name: section.fold for section in form.sections}
    by_name["limits"].set_open(True)
    by_name["budget"].set_open(False)
    again = ConstraintsForm(PresetStore())
    qtbot.addWidget(again)
    opened = {section.name for section in again.sections if section.fold.is_open}
    assert "limits" in opened
    assert "budget" not in opened
    assert "work" in opened  # as it was
    assert again.fold.is_open


def test_the_work_of_one_run_is_not_remembered_for_the_next(qtbot: QtBot, form: ConstraintsForm) -> None:
    form.suggest_total_steps(500)
    assert form.total_is_suggested
    form.read(now())
    again = ConstraintsForm(PresetStore())
    qtbot.addWidget(again)
    assert again.texts().total == ""


def test_presets_belong_to_their_project(form: ConstraintsForm) -> None:
    form.set_project("/home/me/project")
    form.set_texts(ConstraintTexts(deadline="36h"))
    form.tools.save_requested.emit("tight")
    form.reset()
    form.tools._fill_menu()
    form.tools._menu.actions()[0].trigger()
    assert form.texts().deadline == "36h"
    store = PresetStore()
    assert store.names("/home/me/project") == ["tight"]
    assert store.names("/home/me/other") == []
    form.tools._forget("tight")
    assert PresetStore().names("/home/me/project") == []


def test_a_damaged_memory_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "form.json"
    path.write_text('{"last": {"deadline": 5}}')
    store = PresetStore(path)
    assert store.last == ConstraintTexts()
    store.keep_last(ConstraintTexts(deadline="2d"))
    assert PresetStore(path).last.deadline == "2d"
    with pytest.raises(UsageError, match="cannot be kept"):
        PresetStore(tmp_path / "nowhere" / "form.json").keep_last(ConstraintTexts(deadline="1d"))


def test_what_the_catalogue_no_longer_has_stays_to_be_unticked(form: ConstraintsForm) -> None:
    form.set_texts(ConstraintTexts(gpus=("gone",)))
    form.offer(CHOICES)
    checklist = form.editor_widget("gpus")
    assert isinstance(checklist, ChecklistButton)
    assert checklist.values() == ("gone",)
    assert checklist.text() == "gone"
    checklist.tick(())
    assert checklist.values() == ()


def test_a_model_by_its_dimensions(qtbot: QtBot, qapp: QApplication) -> None:
    model = EstimateForm(PresetStore())
    qtbot.addWidget(model)
    model.show()
    assert model.read() is None
    model._sizes["layers"].setText("32")
    assert model.read() is None
    assert "needed" in model._sizes["hidden_size"].accessibleDescription()
    assert model._sizes["hidden_size"].isVisible(), "the section opens"
    model._sizes["hidden_size"].setText("4096")
    assert model.read() is None
    assert "vocabulary" in model._sizes["vocabulary_size"].accessibleDescription()
    model._sizes["vocabulary_size"].setText("32k")
    found = model.read()
    assert found is not None
    assert found.parameters is None
    assert found.architecture == Architecture(layers=32, hidden_size=4096, vocabulary_size=32_000)
    footprint = engine_sources().estimate(found)
    assert footprint.workload.parameters is not None
    assert footprint.workload.parameters > 5e9


def test_quotes_are_typed_in_edited_and_removed(qtbot: QtBot, form: ConstraintsForm) -> None:
    quotes = form.quotes
    form.sections[-1].fold.set_open(True)
    qtbot.mouseClick(quotes.add_button, Qt.MouseButton.LeftButton)
    assert form.read(now()) is None, "a quote without a price is none yet"
    qtbot.keyClicks(quotes._lines["price"], "12.5k")
    assert quotes.quotes() == (QuoteTexts(gpu="l40s", count="1", price="12.5k"),)
    found = form.read(now())
    assert found is not None
    assert found.economics.quotes[0].price == 12_500
    assert "12.5k USD" in quotes.list.item(0).text()
    quotes.add_quotes((QuoteTexts(gpu="t4", price="700"),))
    assert len(quotes.quotes()) == 2
    assert quotes.summary() == "2 quotes"
    quotes.list.setCurrentRow(0)
    qtbot.mouseClick(quotes.remove_button, Qt.MouseButton.LeftButton)
    assert [quote.gpu for quote in quotes.quotes()] == ["t4"]
    form.undo()
    form.undo()


def test_quotes_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "quotes.csv"
    path.write_text("gpu,count,kind,price,currency,date\nl40s,8,buy,90000,USD,2026-11-01\n")
    found = quotes_of_file(path)
    assert (found[0].gpu, found[0].count, found[0].price) == ("l40s", "8", "90000")
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="no file of prices"):
        quotes_of_file(path)


@pytest.mark.parametrize("mode", [theme.Mode.LIGHT, theme.Mode.DARK])
def test_picture_with_everything_unfolded(
    qtbot: QtBot, qapp: QApplication, form: ConstraintsForm, mode: theme.Mode, tmp_path: Path
) -> None:
    theme.apply_theme(qapp, mode)
    form.set_texts(EVERYTHING)
    for section in form.sections:
        section.fold.set_open(True)
    qtbot.wait(20)
    form.resize(352, form.sizeHint().height())
    qtbot.wait(50)
    save_picture(form, f"form-{mode}", tmp_path)
