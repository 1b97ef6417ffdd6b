"""Builds the stand-in library with the system's C compiler, once for each state of its source."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("standin.c")
PARTS = sorted(SOURCE.parent.glob("standin*.c"))
LIBRARY_NAME = "libnvidia-ml.so.1"
COMPILER_FLAGS = ("-shared", "-fPIC", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror")


def compiler() -> str:
    """The C compiler to use: `CC`, else cc, gcc or clang.

    Raises:
        RuntimeError: there is none.
    """
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    raise RuntimeError("The tests need a C compiler: install gcc (Debian, Ubuntu: apt-get install gcc libc6-dev).")


def build_library(without: tuple[str, ...] = ()) -> Path:
    """Folder that holds `libnvidia-ml.so.1`; built only when the source has changed since.

    Args:
        without: functions that this library lacks (with `*`), as an older one does.
    """
    command = [compiler(), *COMPILER_FLAGS, f"-Wl,-soname,{LIBRARY_NAME}"]
    source = b"".join(part.read_bytes() for part in PARTS)
    key = hashlib.sha256(source + " ".join([*command, *without]).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gpuscope-test-nvml-{os.getuid()}-{key}"
    library = folder / LIBRARY_NAME
    if not library.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        unfinished = folder / f"{LIBRARY_NAME}.{os.getpid()}"
        if without:
            symbols = folder / "symbols"
            symbols.write_text(f"{{ local: {'; '.join(without)}; }};\n")
            command.append(f"-Wl,--version-script={symbols}")
        subprocess.run([*command, "-o", str(unfinished), str(SOURCE), "-lm", "-lpthread"], check=True)
        unfinished.replace(library)  # two test processes may build at the same time
    return folder
