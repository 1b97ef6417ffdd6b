"""How the probe comes into an interpreter, and that nothing it meets there disturbs the script."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest

from gpuscope import paths
from gpuscope.probe.recorder.watch import ImportWatcher

from .conftest import Runner

DEBIAN_PYTHON = "/usr/bin/python3"
PYTHONS = [sys.executable] + ([DEBIAN_PYTHON] if Path(DEBIAN_PYTHON).exists() else [])

STUB_OPTIMIZER = """
class Optimizer:
    def __init__(self, params):
        self.param_groups = [{"params": list(params)}]
        self.state = {}
    def step(self):
        return "stepped"
"""


def _stub_torch(folder: Path, **files: str) -> str:
    """A folder with a package called torch."""
    package = folder / "stub" / "torch"
    package.mkdir(parents=True)
    for name, text in {"__init__": "__version__ = '0.1'\n", **files}.items():
        (package / f"{name}.py").write_text(text)
    return str(package.parent)


@pytest.mark.parametrize("python", PYTHONS)
def test_script_sees_the_interpreter_as_it_would_be_without_us(run_probed: Runner, python: str, tmp_path: Path) -> None:
    source = (
        "import sys, os\n"
        "print(__name__, sys.argv[1:], [os.path.basename(p) for p in sys.path])\n"
        "print(*sys.modules)\n"
        "print('sitecustomize' in sys.modules and sys.modules['sitecustomize'].__file__)"
    )
    probed = run_probed(source, "a", "b c", python=python)
    plain = run_probed(source, "a", "b c", python=python, PYTHONPATH="", GPUSCOPE_PROBE_DIR="")
    assert probed.status == plain.status == 0
    names, modules, sitecustomize = (line for line in probed.output.splitlines())
    plain_names, plain_modules, plain_sitecustomize = (line for line in plain.output.splitlines())
    assert names == plain_names
    assert names.startswith("__main__ ['a', 'b c'] ['user', ")
    assert sitecustomize == plain_sitecustomize
    new = set(modules.split()) - set(plain_modules.split())
    assert {name for name in new if not name.startswith("_gpuscope_probe")} <= {"atexit", "__future__"}
    assert probed.errors == plain.errors == ""
    assert probed.events_by_pid == {}


def test_chains_the_sitecustomize_that_it_shadows(run_probed: Runner, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import sys\nsys.marker = __name__ + ' ' + __file__\n")
    source = "import sys, sitecustomize\nprint(sys.marker)\nprint(sitecustomize.__file__)"
    outcome = run_probed(source, PYTHONPATH=str(tmp_path / "own"))
    expected = str(tmp_path / "own" / "sitecustomize.py")
    assert outcome.output.splitlines() == [f"sitecustomize {expected}", expected]


def test_error_in_the_shadowed_sitecustomize_is_reported_as_without_us(run_probed: Runner, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("raise ValueError('broken by its owner')\n")
    outcome = run_probed("print('runs')", PYTHONPATH=str(tmp_path / "own"))
    assert outcome.output == "runs\n"
    assert "Error in sitecustomize" in outcome.errors
    assert "ValueError: broken by its owner" in outcome.errors


def test_probe_still_works_where_the_shadowed_sitecustomize_is_broken(run_probed: Runner, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("1 / 0\n")
    outcome = run_probed("raise KeyError('x')", PYTHONPATH=str(tmp_path / "own"))
    assert outcome.last("exception")["type"] == "KeyError"


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("options", [("-I",), ("-E",), ("-S",)])
def test_isolated_interpreters_run_without_probe(run_probed: Runner, python: str, options: tuple[str, ...]) -> None:
    outcome = run_probed("raise SystemExit(4)", python=python, options=options)
    assert (outcome.status, outcome.errors, outcome.events_by_pid) == (4, "", {})


def test_folder_that_is_not_there(run_probed: Runner) -> None:
    outcome = run_probed("print('fine'); raise SystemExit(1 / 0)", make_folder="no")
    assert outcome.output == "fine\n"
    assert outcome.errors.count("Traceback") == 1
    assert "ZeroDivisionError" in outcome.errors


def test_full_disk(run_probed: Runner, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    source = (
        "import os, pathlib\n"
        "pathlib.Path(os.environ['GPUSCOPE_PROBE_DIR'], f'probe-{os.getpid()}.jsonl').symlink_to('/dev/full')\n"
        "raise KeyError('x')"
    )
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    outcome = run_probed(source, GPUSCOPE_PROBE_DIR=str(folder))
    assert outcome.status == 1
    assert outcome.errors.count("Traceback") == 1


def test_module_of_the_script_may_be_called_like_the_standard_librarys(run_probed: Runner, tmp_path: Path) -> None:
    (tmp_path / "user").mkdir()
    for name in ("json", "threading", "weakref", "types", "pathlib", "contextlib"):
        (tmp_path / "user" / f"{name}.py").write_text("MINE = True\n")
    names = ("json", "threading", "pathlib")
    source = f"import {', '.join(names)}\nprint({' and '.join(name + '.MINE' for name in names)})"
    assert run_probed(source, python=PYTHONS[-1]).output == "True\n"


def test_framework_without_optimizers_turns_the_probe_off(run_probed: Runner, tmp_path: Path) -> None:
    outcome = run_probed("import torch\nprint(torch.__version__)", PYTHONPATH=_stub_torch(tmp_path))
    assert (outcome.status, outcome.output, outcome.errors) == (0, "0.1\n", "")
    assert outcome.last("framework")["version"] == "0.1"
    assert outcome.last("probe_off")["reason"]


def test_framework_without_global_hooks_is_watched_by_wrapping(run_probed: Runner, tmp_path: Path) -> None:
    folder = _stub_torch(
        tmp_path,
        __init__="__version__ = '1.9'\nfrom . import optimizer, autograd\nfrom .autograd import Tensor\n"
        "import sys\nsys.modules['torch.optim.optimizer'] = optimizer\n"
        "class nn:\n    class Module: pass\n",
        optimizer=STUB_OPTIMIZER,
        autograd="class Tensor: pass\ndef backward(): pass\n",
    )
    source = (
        "import torch\n"
        "from torch.optimizer import Optimizer\n"
        "class Own(Optimizer):\n    def step(self):\n        return super().step()\n"
        "own = Own([])\n"
        "for _ in range(3):\n    torch.autograd.backward(); assert own.step() == 'stepped'\n"
    )
    outcome = run_probed(source, PYTHONPATH=folder, GPUSCOPE_PROBE_PROFILE="0")
    assert (outcome.status, outcome.errors) == (0, "")
    assert not outcome.all("probe_off")
    assert [step["n"] for step in outcome.all("step")] == [1, 2, 3]


def test_framework_that_fails_to_import(run_probed: Runner, tmp_path: Path) -> None:
    source = (
        "import sys\n"
        "for _ in range(2):\n"
        "    try:\n        import torch\n    except OSError as error:\n        print(error)\n"
        "print('torch' in sys.modules)"
    )
    folder = _stub_torch(tmp_path, __init__="raise OSError('libcudart.so.12: cannot open')")
    outcome = run_probed(source, PYTHONPATH=folder)
    assert outcome.output.splitlines() == ["libcudart.so.12: cannot open"] * 2 + ["False"]
    assert outcome.events_by_pid == {}


def test_framework_that_is_not_there(run_probed: Runner) -> None:
    outcome = run_probed("import torch", python=PYTHONS[-1], options=("-s",), PYTHONPATH="/nowhere")
    if outcome.status == 0:
        pytest.skip("this interpreter has torch")
    assert outcome.last("exception")["type"] == "ModuleNotFoundError"
    assert outcome.last("exception")["message"] == "No module named 'torch'"
    assert outcome.errors.strip().endswith("ModuleNotFoundError: No module named 'torch'")


def test_asking_for_the_spec_imports_nothing(run_probed: Runner, tmp_path: Path) -> None:
    source = (
        "import importlib.util, sys\n"
        "spec = importlib.util.find_spec('torch')\n"
        "print(type(spec.loader).__name__, spec.origin.endswith('__init__.py'), 'torch' in sys.modules)\n"
        "import torch\n"
        "print(type(torch.__loader__).__name__, 'exec_module' in vars(torch.__loader__))\n"
        "print([f for f in sys.meta_path if type(f).__name__ == 'ImportWatcher'])"
    )
    outcome = run_probed(source, PYTHONPATH=_stub_torch(tmp_path))
    assert outcome.output.splitlines() == ["SourceFileLoader True False", "SourceFileLoader False", "[]"]


def test_watcher_calls_back_at_once_for_a_module_that_is_there() -> None:
    seen = []
    before = list(sys.meta_path)
    ImportWatcher("ast", seen.append).install()
    assert seen == [ast]
    assert sys.meta_path == before


def test_probe_is_plain_python_39_and_standard_library() -> None:
    files = list(paths.probe_dir().rglob("*.py"))
    assert len(files) > 8
    allowed = set(sys.stdlib_module_names) | {"_gpuscope_probe", "sitecustomize"}
    for file in files:
        tree = ast.parse(file.read_text(), feature_version=(3, 9))
        annotated = "from __future__ import annotations" in file.read_text()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed, file
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").split(".")[0] in allowed, file
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                assert annotated, f"{file}: X | Y in an annotation needs the future import on Python 3.9"


def test_site_folder_holds_nothing_else() -> None:
    names = {entry.name for entry in (paths.probe_dir() / "site").iterdir()} - {"__pycache__"}
    assert names == {"sitecustomize.py"}


def test_other_interpreters_of_this_machine_start_it(run_probed: Runner) -> None:
    installed = (Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3")
    others = [str(path) for path in installed if _minor_version(path) >= 9]
    found = [
        path for minor in range(9, 15) if (path := shutil.which(f"python3.{minor}", path="/usr/bin:/usr/local/bin"))
    ]
    for number, python in enumerate([*PYTHONS, *others, *found]):
        outcome = run_probed("raise KeyError('seen')", python=python, probe_folder_name=f"events{number}")
        assert outcome.last("exception")["message"] == "'seen'", python
        assert outcome.last("exit")["status"] == 1, python


def _minor_version(python: Path) -> int:
    return int(python.parent.parent.name.split(".")[1])
