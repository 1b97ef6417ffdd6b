"""Events of a session: raw facts from the probe (JSON lines) and notes of the supervisor.

The probe cannot import this module, so it writes plain dicts; the field names below are the contract
(a test checks it).
All times `t` are seconds of the system's monotonic clock. Unknown kinds are kept and ignored (newer probes).

Probe kinds and their fields besides `kind`, `t`, `pid`:

process_start   ppid, python, executable, script, rank, local_rank, world_size, probe_version
framework       name, version, cuda_version (null: CPU build), devices [{name, uuid, memory_bytes}], which are only
                listed once the script itself has initialised CUDA
device          type (cpu, cuda, mps, xpu), index, name, uuid: where the dominant optimizer's parameters are
step            n (from 1, of this optimizer), steps (how many this event covers: 1, more where they are shorter than
                20 ms), duration_s (since the end of the step before, a mean over `steps`; null for the first),
                optimizer (key), skipped (true, false, or null when that cannot be known without waiting for the
                device), profiled (the duration holds the cost of the profile), probe_s (the probe's own part of the
                time). Ends of steps are the host's: the device may still work. A step that a CUDA graph replays is
                not seen. Every optimizer tells its own steps; domain/steps.py says which of them are the job's
optimizer       key, class_name, parameters, parameter_bytes, gradient_bytes, state_bytes,
                parameter_dtypes {dtype: bytes}, devices {type: bytes}, foreach, fused, dominant (bool: the most
                parameter bytes so far), after_step, uncounted_tensors (of classes that could not be looked into:
                with any, the bytes are too few). Written at its updates 1, 2, 10, 100 ... and at the end;
                gradient_bytes is the most seen at the end of a step. Optimizers that step inside backward passes are
                one, with the key in_backward
model           parameters, trainable_parameters, parameter_bytes, buffer_bytes, parameter_dtypes {dtype: bytes},
                class_names, uncounted_tensors: all live modules. Once, at the second update, or at the end where there
                was none
memory          device, allocated_bytes, reserved_bytes, peak_allocated_bytes, peak_reserved_bytes, alloc_retries, ooms
batch           samples (null: no tensor in a batch), batches, wait_s: the DataLoader batches since the step before,
                added up; steps: where it covers several steps, the other fields are means a step
precision       autocast (dtype or null), grad_scaler (bool), tf32 (bool or null), compiled (bool), checkpointing (bool;
                inside compiled code it is not seen)
ops             step, cost_s, device_type, rows [{name, shapes, dtypes, count, cpu_time_s, device_time_s,
                backward (bool), args}]: one profiled step, operators with equal name, shapes, dtypes and args added
                up. Times are the operator's own, without those of the operators it called. A list of tensors has a
                list of shapes as its entry of `shapes` where the profiler tells them, else []. `args`, optional and
                only on convolutions, are the values that are no tensors as the profiler gives them (concrete_inputs:
                null for a tensor; else stride, padding, dilation, ...): without it output sizes are inferred.
                Also phase (forward, backward, optimizer, data_loader) and kernels (started on the device)
exception       type, message, traceback (last lines), file, line
out_of_memory   message, device, allocated_bytes, reserved_bytes
probe_off       reason: the probe switched itself off
exit            status (1 after an uncaught exception, else null: a process cannot see its own SystemExit), reason
                (normal, exception)

Supervisor kinds: sampler_started, sampler_replaced {reason, gap_start_s}, supervisor_adopted {gap_start_s, gap_end_s},
stop_requested {how}, note {sentence}, finding {sentence}, xid {uuid, code, sentence, gpu_instance}: an error that the
NVIDIA driver reported of a GPU or of a program on it; remote_clock {host, uncertainty_s, wall_ahead_s}: how well the
clock of a machine behind ssh is known. Those of such a machine have its host, too.
"""

from __future__ import annotations

from typing import Any

from gpuscope.domain.base import Value

SUPERVISOR = "supervisor"


class Event(Value, frozen=True, kw_only=True):
    """One event as kept in the session."""

    t: float
    """Session time, seconds."""
    source: str
    """`supervisor`, or `probe:PID`."""
    kind: str
    data: dict[str, Any] = {}
    seq: int = 0
