"""Fill the cards of the Monitor from the newest readings."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from gpuscope.domain.device import Device, Host
from gpuscope.domain.host_capacity import HostCapacity
from gpuscope.domain.series import HOST_KEY
from gpuscope.ui import figures
from gpuscope.ui.figures import Figure
from gpuscope.ui.monitor_model import MonitorModel, Reading
from gpuscope.ui.plain_text import as_plain
from gpuscope.ui.theme import metric_colour
from gpuscope.ui.widgets.device_card import DeviceCard

translate = QCoreApplication.translate

SPARK_S = 60.0
VENDOR_PREFIX = "NVIDIA "


def new_gpu_card(device: Device, label: str, parent: QWidget) -> DeviceCard:
    """An empty card for a GPU or MIG instance; `label` as from `figures.device_labels`."""
    details = {"power": "", "temperature": "", "clock": ""}
    card = DeviceCard(device.uuid, metric_colour("utilization_gpu"), metric_colour("gpu_memory"), details, parent)
    name = device.name.removeprefix(VENDOR_PREFIX)
    if device.kind == "mig":
        name = name.rpartition(" MIG ")[2]  # its profile, as in "NVIDIA H100 80GB HBM3 MIG 2g.20gb"
    card.name.set_full_text(f"{label}  {name}")
    card.name.setToolTip(as_plain(f"{device.name}\n{device.uuid}"))
    card.busy.setWhatsThis(
        translate(
            "Cards",
            "Share of time in which at least one kernel ran, from the driver. It does not say how much of the GPU's "
            "capacity was used: a single small kernel counts as 100%.",
        )
    )
    card.details["power"].setWhatsThis(translate("Cards", "Power drawn now by the whole card, from the driver."))
    card.details["temperature"].setWhatsThis(translate("Cards", "Temperature of the GPU's core, from the driver."))
    card.details["clock"].setWhatsThis(translate("Cards", "Clock of the streaming multiprocessors now."))
    card.flag.setWhatsThis(
        translate("Cards", "Why the driver keeps the clocks below what the card could do. Idle does not count.")
    )
    card.memory.setWhatsThis(
        translate(
            "Cards",
            "Memory held by processes, of all there is. What the driver keeps for itself is hatched and not counted "
            "as used.",
        )
    )
    return card


def new_host_card(host: Host, parent: QWidget) -> DeviceCard:
    """An empty card for the machine."""
    details = {"disk": translate("Cards", "disk"), "network": translate("Cards", "net")}
    card = DeviceCard(HOST_KEY, metric_colour("cpu"), metric_colour("host_memory"), details, parent)
    card.name.set_full_text(translate("Cards", "Host  {0}").format(host.cpu_name or host.hostname))
    card.busy.setWhatsThis(translate("Cards", "CPU use over all hardware threads together, from the system."))
    card.memory.setWhatsThis(translate("Cards", "Memory that is not available to new programs, of all there is."))
    return card


def fill_gpu_card(card: DeviceCard, model: MonitorModel) -> None:
    """Show a GPU's newest readings."""
    key = card.key
    busy = model.reading(key, "utilization_gpu_percent")
    card.busy.show_figure(figures.percent(busy.value), busy.why_not)
    _fill_spark(card, model, "utilization_gpu_percent")
    _fill_memory(card, model)
    power, limit = model.reading(key, "power_w"), model.reading(key, "power_limit_w")
    tooltip = power.why_not
    if not tooltip and limit.value is not None:
        tooltip = translate("Cards", "The limit is {0} W.").format(f"{limit.value:,.0f}")
    card.details["power"].show_figure(figures.watts(power.value), tooltip)
    temperature, clock = model.reading(key, "temperature_c"), model.reading(key, "clock_sm_mhz")
    card.details["temperature"].show_figure(figures.celsius(temperature.value), temperature.why_not)
    card.details["clock"].show_figure(figures.megahertz(clock.value), clock.why_not)
    card.show_flag(*_slowed_texts(model.reading(key, "clock_event_reasons")))


def fill_host_card(card: DeviceCard, model: MonitorModel) -> None:
    """Show the machine's newest readings."""
    capacity = model.capacity()
    _fill_host_cpu(card, model, capacity)
    if capacity.memory_is_limited:
        _fill_limited_memory(card, model, capacity)
    else:
        _fill_memory(card, model)
    for name, fields in (
        ("disk", ("disk_read_bytes_per_s", "disk_write_bytes_per_s")),
        ("network", ("network_receive_bytes_per_s", "network_send_bytes_per_s")),
    ):
        readings = [model.reading(HOST_KEY, field) for field in fields]
        known = [reading.value for reading in readings if reading.value is not None]
        both = translate("Cards", "{0} in, {1} out")
        texts = [" ".join(figures.rate(reading.value)).strip() for reading in readings]
        tooltip = readings[0].why_not or both.format(*texts)
        card.details[name].show_figure(figures.rate(sum(known) if known else None), tooltip)


def _fill_host_cpu(card: DeviceCard, model: MonitorModel, capacity: HostCapacity) -> None:
    """The machine's CPU; in a container with a limit, what of the limit is used."""
    if not capacity.cpus_are_limited or capacity.cpus is None:
        busy = model.reading(HOST_KEY, "cpu_percent")
        card.busy.show_figure(figures.percent(busy.value), busy.why_not)
        _fill_spark(card, model, "cpu_percent")
        return
    why_not = model.reading(HOST_KEY, "cgroup_cpu_percent").why_not
    limited = translate("Cards", "Of the {0} cores that this container or job may use.").format(f"{capacity.cpus:g}")
    card.busy.show_figure(figures.percent(capacity.cpu_percent), why_not or limited)
    span = (model.end_s - SPARK_S, model.end_s)
    t, values = model.between(HOST_KEY, "cgroup_cpu_percent", *span)
    card.spark.show_series(span, t, values / capacity.cpus)


def _fill_limited_memory(card: DeviceCard, model: MonitorModel, capacity: HostCapacity) -> None:
    """Memory of a container, of its limit."""
    used, total = capacity.memory_used_bytes, capacity.memory_total_bytes
    machine = model.host.memory_total_bytes
    hint = translate("Cards", "The limit of this container or job stands in for the machine's memory")
    if machine is not None:
        hint += f" ({' '.join(figures.memory(machine))})"
    if used is None or not total:
        why_not = model.reading(HOST_KEY, "cgroup_memory_used_bytes").why_not
        card.memory.show_figure(figures.memory(used), why_not)
        card.memory_bar.show_shares(0.0, 0.0)
        return
    card.memory.show_figure(_of_total(used, total), hint)
    card.memory_bar.setToolTip(hint)
    card.memory_bar.show_shares(used / total, 0.0)


def _fill_spark(card: DeviceCard, model: MonitorModel, field: str) -> None:
    span = (model.end_s - SPARK_S, model.end_s)
    card.spark.show_series(span, *model.between(card.key, field, *span))


def _fill_memory(card: DeviceCard, model: MonitorModel) -> None:
    used, total = model.reading(card.key, "memory_used_bytes"), model.reading(card.key, "memory_total_bytes")
    reserved = model.reading(card.key, "memory_reserved_bytes").value
    if used.value is None or not total.value:
        card.memory.show_figure(figures.memory(used.value), used.why_not or total.why_not)
        card.memory_bar.show_shares(0.0, 0.0)
        card.memory_bar.setToolTip(used.why_not or total.why_not)
        return
    figure, tooltip = _of_total(used.value, total.value), _memory_tooltip(used.value, total.value, reserved)
    card.memory.show_figure(figure, tooltip)
    card.memory_bar.setToolTip(f"{figure.number} {figure.unit}: {tooltip}")
    card.memory_bar.show_shares(used.value / total.value, (reserved or 0.0) / total.value)


def _of_total(used: float, total: float) -> Figure:
    number, unit = figures.memory(used)
    total_number, total_unit = figures.memory(total)
    number = number if unit == total_unit else f"{number} {unit}"
    return Figure(translate("Cards", "{0} of {1}").format(number, total_number), total_unit)


def _memory_tooltip(used: float, total: float, reserved: float | None) -> str:
    gigabytes = figures.vendor_gigabytes
    text = translate("Cards", "{0} of {1} (decimal, as vendors count)").format(gigabytes(used), gigabytes(total))
    if reserved is not None:
        text += translate("Cards", "; the driver keeps {0} for itself").format(" ".join(figures.memory(reserved)))
    return text


def _slowed_texts(reading: Reading) -> tuple[str, str]:
    if reading.value is None:
        return "", ""
    words = dict.fromkeys(text for bit, text in _slowed_by().items() if int(reading.value) & bit)
    text = ", ".join(words)
    return text, translate("Cards", "The clocks are held down by: {0}.").format(text) if text else ""


def _slowed_by() -> dict[int, str]:
    """NVML's clock-event reasons (nvml.h, nvmlClocksEventReason*); bit 0, idle, is no slowdown and left out."""
    return {
        0x2: translate("Cards", "clock settings"),
        0x4: translate("Cards", "power cap"),
        0x8: translate("Cards", "hardware slowdown"),
        0x10: translate("Cards", "sync boost"),
        0x20: translate("Cards", "heat"),
        0x40: translate("Cards", "heat"),
        0x80: translate("Cards", "power brake"),
        0x100: translate("Cards", "display clocks"),
    }
