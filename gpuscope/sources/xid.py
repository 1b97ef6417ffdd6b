"""What NVIDIA's Xid numbers mean, in a sentence, and what to do (after NVIDIA's "Xid Errors" catalogue)."""

from __future__ import annotations

_PROGRAM = "Look for the fault in the program first (compute-sanitizer finds it)"
_RESET = "Stop the work on it and reset the GPU (nvidia-smi --gpu-reset) or reboot"
_SUPPORT = "when it comes back, test the GPU (dcgmi diag -r 3) and have it replaced"

_SENTENCES: dict[int, str] = {
    8: f"The GPU stopped working on a command. Start the program again; {_SUPPORT}.",
    13: f"A kernel failed with an exception, mostly an access outside an array. {_PROGRAM}; {_SUPPORT}.",
    31: f"A kernel touched memory that is not its own (page fault). {_PROGRAM}; {_SUPPORT}.",
    32: "The driver was sent a corrupted command stream: bad PCIe transfers or a faulty program. Check the PCIe link.",
    38: f"The driver's firmware failed. {_RESET}; update the driver.",
    43: f"A program's work was stopped after an error of its own; the GPU itself is well. {_PROGRAM}.",
    44: f"The graphics engine failed during a context switch. {_RESET}.",
    45: "Work was cleaned up after a program ended or an earlier error: look at what came before it.",
    46: f"The GPU stopped working. {_RESET}; {_SUPPORT}.",
    48: f"Device memory had an error that ECC cannot correct (double bit). {_RESET}; {_SUPPORT}.",
    54: "Auxiliary power is not connected to the GPU board: check its cables.",
    61: f"The GPU's internal controller stopped (breakpoint). {_RESET}.",
    62: f"The GPU's internal controller halted. {_RESET}; {_SUPPORT}.",
    63: "A bad page or row of device memory was noted for replacement at the next GPU reset: reset it after the job.",
    64: f"A bad page or row of device memory could not be noted for replacement. {_RESET}; {_SUPPORT}.",
    68: "The video decoder failed: look for a damaged stream or a fault of the program.",
    69: f"The graphics engine refused a command of a program. {_PROGRAM}.",
    74: f"An NVLink had an error. Check the links (nvidia-smi nvlink -e); {_SUPPORT}.",
    79: "The GPU has fallen off the bus: check power, cooling and seating, then reboot.",
    92: f"ECC corrects unusually many errors of device memory. Watch it; {_SUPPORT}.",
    94: "An ECC error was contained: the program that used the memory was ended, others go on. Start it again.",
    95: f"An ECC error was not contained: all programs on the GPU are affected. {_RESET}.",
    109: f"A context switch took too long. Start the program again; {_SUPPORT}.",
    110: f"The GPU reported a security fault. {_RESET}; {_SUPPORT}.",
    119: f"The GPU's system processor (GSP) did not answer in time. {_RESET}; update the driver.",
    120: f"The GPU's system processor (GSP) failed. {_RESET}; update the driver.",
    121: "The link between CPU and GPU chip (C2C) corrected errors: performance may have suffered. Watch it.",
    137: f"A program's access over NVLink was refused. {_PROGRAM}.",
    140: f"Device memory had ECC errors that were not recovered. {_RESET}.",
    143: f"The GPU could not be initialised. {_RESET}; {_SUPPORT}.",
    149: f"An NVLink had a fatal error. {_RESET}; {_SUPPORT}.",
    154: "What the GPU needs in order to recover has changed: nvidia-smi -q shows it under GPU Recovery Action.",
    156: "A part of the GPU's memory was retired; it is replaced at the next reset.",
    157: f"A part of the GPU's memory could not be retired. {_SUPPORT.capitalize()}.",
}


def xid_sentence(code: int) -> str:
    """What happened and what to do; unknown numbers lead to NVIDIA's catalogue."""
    known = _SENTENCES.get(code)
    text = known or "See NVIDIA's Xid catalogue for its meaning and the kernel log (dmesg) for its details."
    return f"Xid {code}: {text}"
