"""Brings the recorder into an interpreter that was started with this folder on PYTHONPATH.

Python's `site` imports a module of this name at start. This one does three things and leaves nothing else behind: it
takes its folder off `sys.path` (children still get it through PYTHONPATH), runs the sitecustomize that it shadows as if
it were not there itself, and starts the recorder. Without one to run, the import below fails exactly as it would
without this file, and `site` knows how to take that.
"""

# ruff: noqa: PTH100, PTH118, PTH120  # pathlib at interpreter start could hide a module of the script's own

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_RECORDER = os.path.join(os.path.dirname(_FOLDER), "recorder")
_PACKAGE = "_gpuscope_probe"


def _leave_path() -> None:
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _FOLDER]


def _start_recorder() -> None:
    """Load the recorder by its place, under a private name, with no module that the script did not ask for."""
    folder = os.environ.get("GPUSCOPE_PROBE_DIR")
    if not folder or _PACKAGE in sys.modules:
        return
    try:
        package = type(sys)(_PACKAGE)
        package.__path__ = [_RECORDER]
        sys.modules[_PACKAGE] = package
        from _gpuscope_probe.start import start  # type: ignore[import-not-found]  # known by its place only

        start(folder)
    except Exception:  # nothing of ours may disturb the script, and there is nobody to tell yet
        sys.modules.pop(_PACKAGE, None)


_leave_path()
sys.modules.pop(__name__, None)
try:
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401  # the one that this file shadows, if any
finally:
    _start_recorder()
