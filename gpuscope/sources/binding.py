"""NVIDIA's own Python binding of NVML: find it, and tell it from the unrelated packages of the same module name."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import types
from dataclasses import dataclass
from pathlib import Path

from gpuscope.errors import SourceError

DISTRIBUTION = "nvidia-ml-py"
REQUIRED_NAMES = (
    "nvmlInitWithFlags",
    "nvmlMemory_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetMigDeviceHandleByIndex",
    "nvmlLib",
)
"""What nvidia-ml-py ≥ 12.560 has; packages called pynvml, and very old copies, lack some of it."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The imported binding and where it comes from."""

    module: types.ModuleType
    package: str | None
    version: str | None


def load_binding() -> Binding:
    """Import the binding.

    Raises:
        SourceError: it is missing, or another package has taken its module name; says what to install.
    """
    try:
        module = importlib.import_module("pynvml")
    except ImportError:
        raise SourceError(
            "The Python package nvidia-ml-py, through which NVIDIA GPUs are read, is not installed in gpuscope's "
            "environment: run `pip install nvidia-ml-py` there."
        ) from None
    missing = [name for name in REQUIRED_NAMES if not hasattr(module, name)]
    if missing:
        raise SourceError(_wrong_package_sentence(module, missing[0]))
    try:
        return Binding(module, DISTRIBUTION, importlib.metadata.version(DISTRIBUTION))
    except importlib.metadata.PackageNotFoundError:  # a frozen app, or a copy of the module
        return Binding(module, None, getattr(module, "__version__", None))


def library_path() -> str | None:
    """File of the NVML library that this process has loaded; None when there is none or it cannot be told."""
    if sys.platform == "win32":
        return None  # the binding looks in System32, then beside nvidia-smi, and keeps the answer to itself
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return next((line.split(maxsplit=5)[5] for line in maps.splitlines() if "libnvidia-ml" in line), None)


def _distribution(module: types.ModuleType) -> tuple[str | None, str | None]:
    """Name and version of the package that the module came with: looks at all packages, which takes a while."""
    names = importlib.metadata.packages_distributions().get("pynvml", [])
    name = DISTRIBUTION if DISTRIBUTION in names else next(iter(names), None)
    if name is not None:
        return name, importlib.metadata.version(name)
    return None, getattr(module, "__version__", None)


def _wrong_package_sentence(module: types.ModuleType, missing: str) -> str:
    name, version = _distribution(module)
    where = getattr(module, "__file__", None) or "an unknown place"
    what = f"the package {name} {version or ''}".strip() if name else "a file of that name"
    return (
        f"The Python module pynvml at {where} comes from {what} and is not a current nvidia-ml-py (no {missing}), "
        "so GPUs cannot be read: run `pip uninstall -y pynvml` and `pip install --force-reinstall nvidia-ml-py`."
    )
