"""InfiniBand and RoCE: traffic between machines that passes the system's own network counters by."""

from __future__ import annotations

from pathlib import Path

from gpuscope.domain.reasons import Reason
from gpuscope.sources.block_and_net import BYTES_PER_S_PER_MBIT, DeviceRates, device_list, sums
from gpuscope.sources.system_files import Figures, KeptFile, Number, names_in, number, read_text

COUNTERS = {"receive_bytes_per_s": "port_rcv_data", "send_bytes_per_s": "port_xmit_data"}
COUNTER_UNIT_BYTES = 4
"""The counters count the octets of one of four lanes (Linux, Documentation/ABI/stable/sysfs-class-infiniband)."""
RDMA_SUMS = {"rdma_receive_bytes_per_s": "receive_bytes_per_s", "rdma_send_bytes_per_s": "send_bytes_per_s"}
MBIT_PER_GBIT = 1000


class RdmaPorts:
    """Rates of each port of each RDMA card, and of all together."""

    def __init__(self, sysfs: Path) -> None:
        self._folder = sysfs / "class" / "infiniband"
        self._files: dict[str, dict[str, KeptFile]] = {}
        self._links: dict[str, Number] = {}
        self._rates = DeviceRates()

    def find(self) -> None:
        """Look for ports that have come or gone, and at the speed of their links."""
        ports = {
            f"{card}:{port}": self._folder / card / "ports" / port
            for card in names_in(self._folder)
            for port in names_in(self._folder / card / "ports")
        }
        self._links = {name: _link(read_text(folder / "rate")) for name, folder in ports.items()}
        self._files = {
            name: self._files.get(name)
            or {what: KeptFile(folder / "counters" / file) for what, file in COUNTERS.items()}
            for name, folder in ports.items()
        }

    def read(self, now_s: float) -> Figures:
        """`rdma` as a list of ports called like `mlx5_0:1`, and their sums."""
        if not self._files:
            return dict.fromkeys(RDMA_SUMS, Reason.NOT_OFFERED)
        counters: dict[str, dict[str, float]] = {}
        refused: dict[str, Figures] = {}
        for name, files in self._files.items():
            values = {what: _number(file.read()) for what, file in files.items()}
            counters[name] = {
                what: value * COUNTER_UNIT_BYTES for what, value in values.items() if not isinstance(value, Reason)
            }
            refused[name] = {what: value for what, value in values.items() if isinstance(value, Reason)}
        rows = self._rates.rows(counters, now_s)
        rows = {name: {**row, **refused[name], "link_bytes_per_s": self._links[name]} for name, row in rows.items()}
        return {"rdma": device_list(rows), **sums(rows.values(), RDMA_SUMS)}


def _number(text: bytes | Reason) -> Number:
    return text if isinstance(text, Reason) else number(text.decode("ascii", "replace").strip())


def _link(text: str | Reason) -> Number:
    """Bytes a second of a rate such as `400 Gb/sec (4X NDR)`."""
    if isinstance(text, Reason):
        return text
    try:
        return float(text.split()[0]) * MBIT_PER_GBIT * BYTES_PER_S_PER_MBIT
    except (ValueError, IndexError):
        return Reason.UNREADABLE
