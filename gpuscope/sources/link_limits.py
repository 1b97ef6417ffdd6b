"""What links carry at most."""

from __future__ import annotations

_PCIE_LANE_BYTES_PER_S = {
    1: 2.5e9 / 8 * (8 / 10),
    2: 5.0e9 / 8 * (8 / 10),
    3: 8.0e9 / 8 * (128 / 130),
    4: 16.0e9 / 8 * (128 / 130),
    5: 32.0e9 / 8 * (128 / 130),
    6: 64.0e9 / 8 * (242 / 256),
    7: 128.0e9 / 8 * (242 / 256),
}
"""One lane in one direction by generation: transfers a second times the share that line coding leaves (8b/10b, then
128b/130b; from 6 on flits of 256 bytes, of which 14 are CRC and error correction): PCI-SIG's base specifications.
Packet headers take a further part."""

NVLINK_VERSIONS = {1: "1.0", 2: "2.0", 3: "2.2", 4: "3.0", 5: "3.1", 6: "4.0", 7: "5.0", 8: "6.0"}
"""nvmlNvlinkVersion_t."""


def pcie_limit_bytes_per_s(generation: int, width: int) -> float | None:
    """What a PCIe link carries in each direction; None for generations that are not known here and for no lanes."""
    lane = _PCIE_LANE_BYTES_PER_S.get(generation)
    return lane * width if lane is not None and width > 0 else None
