#!/usr/bin/env bash
# Sets up what a make target needs: system packages, the virtual environment .venv, Python packages in it.
# usage: installers/linux/setup.sh run|test|package
# As root it installs missing Debian or Ubuntu packages; otherwise it prints the exact command and stops.
set -euo pipefail

purpose=${1:?usage: setup.sh run|test|package}
cd "$(dirname "$0")/../.."
oldest_minor=11 # Python 3.11, as in pyproject.toml

stop() {
    echo "gpuscope set-up: $*" >&2
    exit 1
}

# ---- Python ---------------------------------------------------------------------------------------------------------

is_recent_python() {
    "$1" -c "import sys; sys.exit(sys.version_info < (3, $oldest_minor))" 2>/dev/null
}

find_python() {
    local candidate
    if [[ -n ${PYTHON:-} ]]; then
        is_recent_python "$PYTHON" || stop "$PYTHON is not Python 3.$oldest_minor or later: set PYTHON to one that is."
        echo "$PYTHON"
        return
    fi
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null && is_recent_python "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    stop "no Python 3.$oldest_minor or later was found: install one, or name it, as in PYTHON=/path/to/python3.12 make $purpose."
}

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}

# ---- System packages ------------------------------------------------------------------------------------------------

# What Qt's widgets and its xcb and offscreen platforms load from the system, and the package that has it.
qt_libraries="
    libEGL.so.1=libegl1 libGL.so.1=libgl1 libglib-2.0.so.0=libglib2.0-0 libdbus-1.so.3=libdbus-1-3
    libfontconfig.so.1=libfontconfig1 libfreetype.so.6=libfreetype6 libX11.so.6=libx11-6 libX11-xcb.so.1=libx11-xcb1
    libxkbcommon.so.0=libxkbcommon0 libxkbcommon-x11.so.0=libxkbcommon-x11-0 libxcb.so.1=libxcb1
    libxcb-cursor.so.0=libxcb-cursor0 libxcb-icccm.so.4=libxcb-icccm4 libxcb-image.so.0=libxcb-image0
    libxcb-keysyms.so.1=libxcb-keysyms1 libxcb-randr.so.0=libxcb-randr0 libxcb-render.so.0=libxcb-render0
    libxcb-render-util.so.0=libxcb-render-util0 libxcb-shape.so.0=libxcb-shape0 libxcb-shm.so.0=libxcb-shm0
    libxcb-sync.so.1=libxcb-sync1 libxcb-util.so.1=libxcb-util1 libxcb-xfixes.so.0=libxcb-xfixes0
    libxcb-xkb.so.1=libxcb-xkb1
"

missing_packages() {
    local python=$1 libraries pair
    # Not `ldconfig | grep -q`: grep would stop reading and ldconfig's broken pipe would count as a failure.
    libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p)
    for pair in $qt_libraries; do
        grep -qF "${pair%%=*} " <<<"$libraries" || echo "${pair##*=}"
    done
    has_fonts || echo fonts-dejavu-core
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        echo "python$(version_of "$python")-venv"
    if [[ $purpose == test ]]; then
        command -v cc >/dev/null || echo gcc
        [[ -e /usr/include/stdio.h ]] || echo libc6-dev
    fi
    if [[ $purpose == package ]]; then
        command -v objdump >/dev/null || echo binutils
        has_python_library "$python" || echo "libpython$(version_of "$python")"
    fi
}

# PyInstaller needs Python as a shared library, which Debian keeps in a package of its own.
has_python_library() {
    "$1" - <<'END'
import os, sys, sysconfig
name, folder, multiarch = map(sysconfig.get_config_var, ("INSTSONAME", "LIBDIR", "MULTIARCH"))
sys.exit(not any(os.path.exists(os.path.join(folder, part, name)) for part in ("", multiarch or "")))
END
}

has_fonts() {
    [[ -n $(find /usr/share/fonts /usr/local/share/fonts "$HOME/.fonts" "$HOME/.local/share/fonts" \
        \( -name '*.ttf' -o -name '*.otf' -o -name '*.ttc' \) -print -quit 2>/dev/null) ]]
}

install_packages() {
    local command="apt-get install -y --no-install-recommends $*" log
    if ! command -v apt-get >/dev/null; then
        stop "this system lacks what these Debian packages hold: $*; install its counterparts, then run make $purpose again."
    fi
    if [[ $(id -u) != 0 ]]; then
        stop "system packages are missing; run this, then make $purpose again: sudo $command"
    fi
    echo "gpuscope set-up: installing system packages: $*"
    export DEBIAN_FRONTEND=noninteractive
    # An unreachable extra source must not stop us: what matters is whether the install below works.
    apt-get update -qq || true
    if ! log=$($command -qq 2>&1); then
        echo "$log" >&2
        stop "$command failed: see its messages above."
    fi
}

# ---- Python packages ------------------------------------------------------------------------------------------------

# The marks live inside .venv, so that they go when it goes.
mark_of() {
    echo ".venv/gpuscope-set-up/$1-$(sha256sum pyproject.toml | cut -c1-16)"
}

is_done() {
    [[ -e $(mark_of "$1") ]]
}

mark_done() {
    mkdir -p .venv/gpuscope-set-up
    rm -f ".venv/gpuscope-set-up/$1"-*
    touch "$(mark_of "$1")"
}

make_environment() {
    local python=$1
    if [[ ! -x .venv/bin/python ]] || ! is_recent_python .venv/bin/python; then
        echo "gpuscope set-up: making .venv with $python"
        "$python" -m venv --clear .venv || stop "$python could not make the virtual environment .venv: see above."
    fi
}

pip_install() {
    .venv/bin/python -m pip install --disable-pip-version-check --quiet "$@" ||
        stop "pip could not install the Python packages: see its messages above."
}

install_app() {
    is_done app && return
    echo "gpuscope set-up: installing gpuscope's Python packages into .venv (a download of about 110 MB)"
    pip_install --editable .
    mark_done app
}

torch_size="PyTorch is a large download: about 200 MB where pip finds the CPU-only build, about 3 GB with CUDA's libraries (the default on Linux x86_64)"

# Prints yes or no; anything else (a traceback) ends the set-up.
has_torch_somewhere() {
    .venv/bin/python - <<'END'
import pathlib
from gpuscope.runner.interpreters import find_interpreters
print("yes" if any(found.torch_version for found in find_interpreters(pathlib.Path.cwd())) else "no")
END
}

install_torch_unless_found() {
    local answer
    if [[ -n ${INTERPRETER:-} ]]; then
        return
    fi
    answer=$(has_torch_somewhere)
    if [[ $answer == no ]]; then
        echo "gpuscope set-up: no Python with torch was found on this machine, so it is installed into .venv."
        echo "gpuscope set-up: $torch_size."
        pip_install --editable '.[torch]'
    fi
}

install_packaging() {
    is_done packaging && return
    echo "gpuscope set-up: installing PyInstaller into .venv"
    pip_install --editable '.[package]'
    mark_done packaging
    mark_done app
}

install_development() {
    is_done development && return
    .venv/bin/python -c 'import torch' 2>/dev/null || echo "gpuscope set-up: the tests need torch. $torch_size."
    echo "gpuscope set-up: installing the development packages into .venv"
    pip_install --editable '.[dev]'
    mark_done development
    mark_done packaging
    mark_done app
}

main() {
    local python packages
    [[ $(uname -s) == Linux ]] || stop "make works on Linux only so far."
    python=$(find_python)
    packages=$(missing_packages "$python")
    # shellcheck disable=SC2086  # one word a package
    [[ -z $packages ]] || install_packages $packages
    make_environment "$python"
    case $purpose in
        run)
            install_app
            install_torch_unless_found
            ;;
        test) install_development ;;
        package) install_packaging ;;
        *) stop "$purpose is not a purpose: run, test or package." ;;
    esac
}

main
