"""The interpreter's own command line: what keeps the probe out, where the script is."""

from __future__ import annotations

import shlex

import pytest

from gpuscope.runner.python_options import PythonOptions, is_python, read_options


@pytest.mark.parametrize("name", ["python", "python3", "/usr/bin/python3.11", "..\\env\\python.exe", "pythonw.exe"])
def test_interpreters(name: str) -> None:
    assert is_python(name)


@pytest.mark.parametrize("name", ["python-config", "ipython", "torchrun", "python3.11-dbg.sh", "pythonic"])
def test_other_programs(name: str) -> None:
    assert not is_python(name)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("train.py -I", PythonOptions(script="train.py")),
        ("-u train.py", PythonOptions(script="train.py")),
        ("-I train.py", PythonOptions("-I", script="train.py")),
        ("-uES train.py", PythonOptions("-E", script="train.py")),
        ("-W ignore -X dev -S train.py", PythonOptions("-S", script="train.py")),
        ("-Wignore -Xdev train.py", PythonOptions(script="train.py")),
        ("-WE -XI train.py", PythonOptions(script="train.py")),
        ("-m pkg.train -I", PythonOptions(module="pkg.train")),
        ("-Im pkg", PythonOptions("-I", module="pkg")),
        ("-mpkg", PythonOptions(module="pkg")),
        ("-c 'import x' -I", PythonOptions()),
        ("-Ecprint(1)", PythonOptions("-E")),
        ("--check-hash-based-pycs never train.py", PythonOptions(script="train.py")),
        ("-- -odd.py", PythonOptions(script="-odd.py")),
        ("-", PythonOptions()),
        ("", PythonOptions()),
        ("-m", PythonOptions()),
    ],
)
def test_command_lines(line: str, expected: PythonOptions) -> None:
    assert read_options(shlex.split(line)) == expected
