"""What is sent to a far machine's Python: the modules that work there with nothing else, as one compressed text."""

from __future__ import annotations

import importlib.util
import json
import zlib
from pathlib import Path

import gpuscope
from gpuscope.errors import SourceError

MODULES = (
    "gpuscope", "gpuscope.domain", "gpuscope.domain.reasons", "gpuscope.sources", "gpuscope.sources.block_and_net",
    "gpuscope.sources.cgroup", "gpuscope.sources.cgroup_files", "gpuscope.sources.figures",
    "gpuscope.sources.host_facts", "gpuscope.sources.host_reader", "gpuscope.sources.memory",
    "gpuscope.sources.memory_bandwidth", "gpuscope.sources.memory_controllers", "gpuscope.sources.pci_places",
    "gpuscope.sources.pressure", "gpuscope.sources.process_tree", "gpuscope.sources.processors",
    "gpuscope.sources.rates", "gpuscope.sources.rdma", "gpuscope.sources.system_files",
    "gpuscope.sources.temperatures", "gpuscope.sources.ticker", "gpuscope.sources.remote",
    "gpuscope.sources.remote.far_gpus", "gpuscope.sources.remote.far_loop", "gpuscope.sources.remote.far_processes",
)  # fmt: skip
"""All that runs there: Python's own library aside, they need one another and nvidia-ml-py."""
BINDING = "pynvml"
"""nvidia-ml-py is one file of this name."""
ENTRY = "gpuscope.sources.remote.far_loop"

START = (
    "import json,sys,zlib;"
    'sys.version_info<(3,9) and sys.exit("gpuscope needs Python 3.9 or later");'
    "i=sys.stdin.buffer;"
    "p=json.loads(zlib.decompress(i.read(int(i.readline()))));"
    "n={};"
    'exec(p["start"],n);'
    'n["run"](p)'
)
"""What the far Python is started with: reads the parcel and runs it. No character in it means anything to a shell
within single quotes."""
FAR_COMMAND = f"exec python3 -I -S -c '{START}'"
"""As the far machine's shell reads it: `exec`, so that no shell stays; isolated from whatever is installed there."""


def far_parcel(interval_s: float, host_interval_s: float) -> bytes:
    """The parcel as it goes through the pipe: its length in digits, a line's end, the compressed text.

    Args:
        interval_s: seconds between fast readings of the GPUs.
        host_interval_s: seconds between readings of the host.

    Raises:
        SourceError: this installation lacks the files.
    """
    folder = Path(gpuscope.__file__).parent
    sources = {name: _text(_file_of(folder, name)) for name in MODULES}
    binding = importlib.util.find_spec(BINDING)
    if binding is not None and binding.origin is not None:  # without it, the far side says that GPUs are missing
        sources[BINDING] = _text(Path(binding.origin))
    start = _text(folder / "sources" / "remote" / "far_start.py")
    options = {"interval_s": interval_s, "host_interval_s": host_interval_s}
    text = json.dumps({"start": start, "entry": ENTRY, "options": options, "sources": sources})
    data = zlib.compress(text.encode())
    return b"%d\n" % len(data) + data


def _file_of(folder: Path, module: str) -> Path:
    path = folder.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(
            f"This installation of gpuscope lacks {path.name}, which other machines would need: install it again, or "
            "use the one from pip."
        ) from error
