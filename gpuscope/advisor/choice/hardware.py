"""Whether the person allows a GPU and its links at all, before anything is predicted for it."""

from __future__ import annotations

from gpuscope.advisor.catalogue.specs import GpuSpec
from gpuscope.advisor.parallel.topology import Topology
from gpuscope.domain.recommendation import Constraints, Rejected
from gpuscope.domain.units import format_bytes

Refusal = tuple[str, str]
"""A reason code, and the reason as a clause."""

# The catalogue's kinds of links → what a person calls them.
_LINK_WORDS = {"nvlink_bridge": "nvlink"}


def refuse_gpu(gpu: GpuSpec, constraints: Constraints) -> Refusal | None:
    """Why the constraints rule out a GPU in any number; None: they do not."""
    wanted = {gpu_id.lower() for gpu_id in constraints.gpus}
    if wanted and gpu.id.lower() not in wanted:
        return "not_asked", "it is not among the GPUs asked for"
    if constraints.vendors and gpu.vendor.lower() not in {vendor.strip().lower() for vendor in constraints.vendors}:
        return "vendor", f"it is from {gpu.vendor}"
    least = constraints.minimum_memory_bytes
    if least is not None and gpu.memory_bytes < least:
        return (
            "minimum_memory",
            f"it has {format_bytes(gpu.memory_bytes)}, at least {format_bytes(least)} are asked for",
        )
    return _refuse_build(gpu, constraints)


def _refuse_build(gpu: GpuSpec, constraints: Constraints) -> Refusal | None:
    forms = tuple(form.strip().lower() for form in constraints.form_factors)
    if forms and not gpu.form_factor.lower().startswith(forms):
        known = f"it is built as {gpu.form_factor}" if gpu.form_factor else "its form factor is not known"
        return "form_factor", known
    if constraints.ecc and gpu.ecc is not True:
        return "ecc", "it has no ECC memory" if gpu.ecc is False else "whether its memory has ECC is not known"
    if constraints.datacenter_licence and gpu.vendor == "NVIDIA" and gpu.segment == "consumer":
        return "licence", "the GeForce driver licence forbids it in a data centre"
    return None


def refuse_links(topology: Topology, constraints: Constraints) -> Refusal | None:
    """Why the constraints rule out how the GPUs are connected; None: they do not, or there is nothing to connect."""
    allowed = {name.strip().lower() for name in constraints.interconnects}
    if topology.intra is not None and allowed:
        kind = _LINK_WORDS.get(topology.intra.kind, topology.intra.kind)
        if kind not in allowed:
            return "interconnect", f"its GPUs are connected by {topology.intra.name or kind}"
    networks = {name.strip().lower() for name in constraints.networks}
    if topology.inter is not None and networks and topology.inter.kind not in networks:
        return "network", f"its machines are connected by {topology.inter.name or topology.inter.kind}"
    return None


def rejected(gpu: GpuSpec, count: int, refusal: Refusal) -> Rejected:
    """A rejection in the words of a refusal."""
    code, words = refusal
    return Rejected(
        gpu=gpu.id, gpu_name=gpu.name, count=count, reason_code=code, reason=f"{count}× {gpu.name}: {words}."
    )
