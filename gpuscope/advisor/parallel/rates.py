"""Constants of the models for many GPUs, as one value that is passed around and can be fitted anew.

The defaults are assumptions from physics and published practice; `resources/calibration/parallel.csv` and
`collectives.csv` hold the fitted ones, each with its source.
"""

from __future__ import annotations

import msgspec

from gpuscope.domain.base import Value


class LinkRate(Value, frozen=True, kw_only=True):
    """What collectives reach on one kind of link: t = start + m/B + 2·√(ramp · m/B), m the bytes over the bus."""

    kind: str
    """As in `topology.Link`."""
    nominal_gbs: float | None = None
    """One direction, of a GPU (of a machine for networks); None: any of this kind."""
    share: float
    """Of the nominal rate that large messages reach (B over nominal)."""
    start_us: float
    """Of a message of any size."""
    ramp_us: float = 0.0
    """How long a pipeline of chunks takes to fill."""
    hop_us: float = 0.0
    """For each further machine on the way of a ring."""
    source: str = ""


DEFAULT_LINKS = (
    # A ring of GPUs on one PCIe host bridge, without direct memory access between them on many boards.
    LinkRate(kind="pcie", share=0.40, start_us=50, source="assumed, 40% of one direction"),
    LinkRate(kind="pcie_islands", share=0.76, start_us=50, source="assumed: direct access between two bridges"),
    LinkRate(kind="nvlink_bridge", share=0.65, start_us=30, source="assumed, 65% of one direction"),
    LinkRate(kind="nvlink", share=0.75, start_us=30, ramp_us=10, source="assumed, 75% of one direction"),
    LinkRate(kind="nvswitch", share=0.80, start_us=35, ramp_us=10, source="assumed, 80% of one direction"),
    LinkRate(kind="infinity_fabric", share=0.70, start_us=40, ramp_us=10, source="assumed, 70% of one direction"),
    LinkRate(kind="nvlink_network", share=0.80, start_us=40, ramp_us=10, hop_us=2, source="assumed, 80%"),
    LinkRate(kind="ethernet", share=0.65, start_us=100, hop_us=30, source="assumed: TCP reaches 65%"),
    LinkRate(kind="tcpx", share=0.75, start_us=100, hop_us=20, source="assumed, 75%"),
    LinkRate(kind="efa", share=0.90, start_us=150, ramp_us=15, hop_us=15, source="assumed, 90%"),
    LinkRate(kind="roce", share=0.85, start_us=50, ramp_us=15, hop_us=8, source="assumed, 85%"),
    LinkRate(kind="infiniband", share=0.92, start_us=50, ramp_us=15, hop_us=8, source="assumed, 92%"),
)


class ParallelRates(Value, frozen=True, kw_only=True):
    """All constants of one calibration."""

    links: tuple[LinkRate, ...] = DEFAULT_LINKS
    ring_share: float = 0.80
    """Most that gathering and scattering reach of a link: switches that add up on the way help reductions alone."""
    send_share: float = 0.85
    """Of one direction of a link inside a machine that a single sender reaches, where collectives reach less."""

    # A transformer without a run: shares of the sustained matrix rate and of the memory bandwidth.
    matrix_share: float = 0.90
    hopper_share: float = 0.80
    """On top, where the power limit lowers clocks under a load that lasts: Hopper and later."""
    half_width: float = 120.0
    """Width or depth of a matrix at which half of the rate is reached."""
    expert_half_width: float = 1000.0
    """Width of an expert at which it reaches half of the rate in 8 bits: many small products, uneven tokens, routing.
    They take time, not operations: in 16 bits it is half of that width."""
    half_tokens: float = 150.0
    """Tokens of a micro batch at which half of the rate is reached."""
    recompute_share: float = 0.9
    """Of the forward pass that runs again with activation checkpointing: a block's last product is not needed."""
    attention_share: float = 0.45
    """Of the sustained matrix rate, in fused attention."""
    hopper_attention_share: float = 0.7
    """On top: kernels written for Ampere."""
    elementwise_bytes: float = 1.0
    """Bytes that norms, activations and residuals move, over those of unfused operators."""
    host_us_per_layer: float = 900.0
    """Time in which the host starts a layer's forward and backward pass."""
    host_us_per_expert: float = 270.0
    """And each expert of a layer that a GPU holds: three products in three passes and what is around them."""

    # Communication.
    hidden_share: float = 0.5
    """Of communication beside computing: the rest slows it down, for both share memory and multiprocessors."""
    tensor_hidden_share: float = 0.0
    """Of tensor parallelism's sums: libraries that cut products into pieces send one beside the next."""
    window_share: float = 0.8
    """Of the computing beside which sharded parameters can travel."""
    straggler_per_doubling: float = 0.015
    """What a step waits for the slowest, for each doubling of the machines."""
    host_per_doubling: float = 0.01
    """What the processes of one machine take from each other, for each doubling of its GPUs."""

    tuned: dict[str, float] = {}
    """Constants that are others with libraries tuned for the GPU (Transformer Engine, Megatron-Core, NeMo)."""

    def of_software(self, framework: str | None) -> ParallelRates:
        """The constants of a framework, as its name says."""
        name = (framework or "").lower()
        tuned = any(word in name for word in _TUNED_FRAMEWORKS)
        return msgspec.structs.replace(self, **self.tuned) if tuned and self.tuned else self


_TUNED_FRAMEWORKS = ("megatron", "nemo", "transformer engine", "transformer_engine")
