"""What a configuration is called in a sentence."""

from __future__ import annotations

from gpuscope.domain.recommendation import Candidate


def title(candidate: Candidate) -> str:
    """`2× L4 from aws (g6.12xlarge, us-east-1)`; of several machines how many there are."""
    if candidate.count == 0:
        name = f"the CPU instance {candidate.offer.instance_type}" if candidate.offer is not None else "the CPU at hand"
    else:
        name = hardware(candidate)
    if candidate.offer is None:
        return f"{name} in {candidate.nodes} machines" if candidate.nodes > 1 else name
    place = "" if candidate.offer.region == "not stated" else f", {candidate.offer.region}"
    if candidate.count == 0:
        return f"{name} from {candidate.offer.provider}{place}"
    machines = f"{candidate.nodes} × " if candidate.nodes > 1 else ""
    return f"{name} from {candidate.offer.provider} ({machines}{candidate.offer.instance_type}{place})"


def hardware(candidate: Candidate) -> str:
    """`2× L4`."""
    return f"{candidate.count}× {candidate.gpu_name or candidate.gpu or 'unknown GPU'}"
