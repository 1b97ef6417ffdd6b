"""Where the parts of a machine's topology stand in its picture, without widgets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication, QPointF, QRectF

from gpuscope.domain.topology import Distance, NumaNode, Topology, TopologyLink, TopologyPart, short_name
from gpuscope.ui import figures

translate = QCoreApplication.translate

LEAST_PART_PX = 56.0
MOST_PART_PX = 96.0
PART_HEIGHT_PX = 40.0
NODE_HEIGHT_PX = 40.0
SWITCH_HEIGHT_PX = 18.0
GAP_PX = 8.0
LEVEL_PX = 28.0
"""Between one level and the next, for the lines."""
ARC_STEP_PX = 14.0
"""So much further down an arc goes for each part that it passes."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with a name.

    Attributes:
        kind: node, switch, gpu, network or nvlink.
        hint: everything that is known of it.
    """

    rect: QRectF
    text: str
    kind: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Wire:
    """A line between two boxes.

    Attributes:
        kind: pcie, nvlink, or node (between processors).
        sag_px: how far it hangs down below its ends; 0: straight.
    """

    start: QPointF
    end: QPointF
    kind: str
    text: str = ""
    sag_px: float = 0.0


@dataclass(slots=True)
class Picture:
    """All of it, with the size that it needs."""

    boxes: list[Box] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    width_px: float = 0.0
    height_px: float = 0.0


def lay_out(topology: Topology, width_px: float) -> Picture:
    """Place NUMA nodes side by side, below each its PCIe switches and devices, and the NVLinks at the bottom.

    Args:
        topology: of one machine.
        width_px: how much room there is; where the parts need more, the picture is wider.
    """
    picture = Picture()
    nodes = _columns(topology)
    parts = max(1, sum(max(1, sum(len(group) for group in groups)) for _, groups in nodes))
    room = (width_px - 2 * GAP_PX * (len(nodes) + 1)) / parts - GAP_PX
    part_px = min(MOST_PART_PX, max(LEAST_PART_PX, room))
    places: dict[int, QRectF] = {}
    x = GAP_PX
    for number, groups in nodes:
        x = _place_node(picture, topology, _node(topology, number), number, groups, x, part_px, places) + 2 * GAP_PX
    picture.width_px = x
    bottom = max((rect.bottom() for rect in places.values()), default=NODE_HEIGHT_PX)
    picture.height_px = _place_nvlinks(picture, topology, places, bottom) + GAP_PX
    return picture


def _columns(topology: Topology) -> list[tuple[int | None, list[list[int]]]]:
    """NUMA nodes in order, each with its groups of parts behind a common switch."""
    by_node: dict[int | None, list[int]] = defaultdict(list)
    for node in topology.numa_nodes:
        if node.cpus:
            by_node[node.number] = []
    for place, part in enumerate(topology.parts):
        by_node[part.numa_node].append(place)
    order = sorted(by_node, key=lambda number: (number is None, number or 0))
    return [(number, _groups(topology, by_node[number])) for number in order]


def _groups(topology: Topology, members: Sequence[int]) -> list[list[int]]:
    """Parts with only PCIe switches between them, together; each group with its GPUs first."""
    group_of = {place: place for place in members}
    near = {Distance.PIX, Distance.PXB}
    for link in topology.links:
        if link.distance in near and link.first in group_of and link.second in group_of:
            old, new = group_of[link.second], group_of[link.first]
            group_of = {place: new if group == old else group for place, group in group_of.items()}
    groups: dict[int, list[int]] = defaultdict(list)
    for place in members:
        groups[group_of[place]].append(place)
    return [sorted(group, key=lambda place: (topology.parts[place].kind != "gpu", place)) for group in groups.values()]


def _node(topology: Topology, number: int | None) -> NumaNode | None:
    return next((node for node in topology.numa_nodes if node.number == number), None)


def _place_node(
    picture: Picture,
    topology: Topology,
    node: NumaNode | None,
    number: int | None,
    groups: list[list[int]],
    left: float,
    part_px: float,
    places: dict[int, QRectF],
) -> float:
    """Place a node and what hangs below it; returns its right edge."""
    count = max(1, sum(len(group) for group in groups))
    width = count * (part_px + GAP_PX) - GAP_PX + max(0, len(groups) - 1) * GAP_PX
    head = QRectF(left, GAP_PX, max(width, 2 * LEAST_PART_PX), NODE_HEIGHT_PX)
    picture.boxes.append(Box(head, _node_text(number), "node", _node_hint(node)))
    x, top = left, head.bottom() + LEVEL_PX
    for group in groups:
        group_width = len(group) * (part_px + GAP_PX) - GAP_PX
        middle = x + group_width / 2
        switch = QRectF(x, top, group_width, SWITCH_HEIGHT_PX)
        shared = len(group) > 1
        if shared:
            picture.boxes.append(
                Box(switch, translate("Topology", "PCIe switch"), "switch", _switch_hint(topology, group))
            )
            picture.wires.append(Wire(QPointF(middle, head.bottom()), QPointF(middle, top), "pcie"))
        part_top = top + SWITCH_HEIGHT_PX + LEVEL_PX
        for place in group:
            rect = QRectF(x, part_top, part_px, PART_HEIGHT_PX)
            places[place] = rect
            part = topology.parts[place]
            picture.boxes.append(Box(rect, part.name, part.kind, _part_hint(topology, place)))
            above = switch.bottom() if shared else head.bottom()
            picture.wires.append(Wire(QPointF(rect.center().x(), above), QPointF(rect.center().x(), part_top), "pcie"))
            x += part_px + GAP_PX
        x += GAP_PX
    return head.right()


def _place_nvlinks(picture: Picture, topology: Topology, places: dict[int, QRectF], bottom: float) -> float:
    """One bar where every GPU reaches every other by equally many links, else a wire for each pair; the new bottom."""
    linked = [link for link in topology.links if link.nvlinks]
    if not linked:
        return bottom
    gpus = sorted({place for link in linked for place in (link.first, link.second)})
    numbers = {link.nvlinks for link in linked}
    if len(gpus) > 2 and len(linked) == len(gpus) * (len(gpus) - 1) // 2 and len(numbers) == 1:
        return _place_fabric(picture, [places[place] for place in gpus], numbers.pop(), bottom)
    lowest = bottom
    for link in linked:
        first, second = places[link.first], places[link.second]
        sag = ARC_STEP_PX * (1 + abs(gpus.index(link.second) - gpus.index(link.first)))
        start, end = QPointF(first.center().x(), bottom), QPointF(second.center().x(), bottom)
        picture.wires.append(Wire(start, end, "nvlink", short_name(link), sag))
        lowest = max(lowest, bottom + sag + GAP_PX)
    return lowest


def _place_fabric(picture: Picture, rects: list[QRectF], links: int, bottom: float) -> float:
    left, right = min(rect.left() for rect in rects), max(rect.right() for rect in rects)
    bar = QRectF(left, bottom + LEVEL_PX, right - left, SWITCH_HEIGHT_PX + 4)
    text = translate("Topology", "NVLink: {0} links from each GPU to every other").format(links)
    hint = translate("Topology", "Directly or through NVSwitches: every GPU reaches every other by the same number.")
    picture.boxes.append(Box(bar, text, "nvlink", hint))
    for rect in rects:
        x = rect.center().x()
        picture.wires.append(Wire(QPointF(x, rect.bottom()), QPointF(x, bar.top()), "nvlink"))
    return bar.bottom()


def _node_text(number: int | None) -> str:
    if number is None:
        return translate("Topology", "NUMA node not known")
    return translate("Topology", "NUMA node {0}").format(number)


def _node_hint(node: NumaNode | None) -> str:
    if node is None:
        return translate("Topology", "The system does not say to which node these belong.")
    lines = [translate("Topology", "Hardware threads {0}").format(node.cpus)] if node.cpus else []
    if node.memory_total_bytes is not None:
        lines.append(translate("Topology", "{0} of memory").format(" ".join(figures.memory(node.memory_total_bytes))))
    if node.distances:
        distances = ", ".join(str(distance) for distance in node.distances)
        lines.append(translate("Topology", "Distances to all nodes: {0} (10 is the node itself)").format(distances))
    return "\n".join(lines)


def _switch_hint(topology: Topology, group: Sequence[int]) -> str:
    names = ", ".join(topology.parts[place].name for place in group)
    return translate("Topology", "{0} reach each other without the processor; they share the way to it.").format(names)


def _part_hint(topology: Topology, place: int) -> str:
    part = topology.parts[place]
    lines = [text for text in (part.name, part.pci_bus_id, _cpus(part)) if text]
    linked = [link for link in topology.links if place in (link.first, link.second) and link.nvlinks]
    return "\n".join([*lines, *(_nvlink_line(topology, link, place) for link in linked)])


def _cpus(part: TopologyPart) -> str:
    return translate("Topology", "Nearest hardware threads {0}").format(part.cpus) if part.cpus else ""


def _nvlink_line(topology: Topology, link: TopologyLink, place: int) -> str:
    other = topology.parts[link.second if place == link.first else link.first].name
    return translate("Topology", "{0} NVLinks to {1}").format(link.nvlinks, other)
