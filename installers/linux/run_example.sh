#!/usr/bin/env bash
# The main job on the bundled example: profile a training script, recommend a GPU for it, show the result.
# usage: installers/linux/run_example.sh [INTERPRETER]    (empty: gpuscope chooses one that has torch)
set -euo pipefail

cd "$(dirname "$0")/../.."
interpreter=${1:-}
gpuscope=(.venv/bin/python -m gpuscope)
mkdir -p out
name="out/example-$(date +%Y%m%d-%H%M%S)"
choice=()
[[ -z $interpreter ]] || choice=(--python "$interpreter")

echo "Profiling resources/workloads/train_gpt.py; the session goes to $name.gpuscope"
"${gpuscope[@]}" run -o "$name.gpuscope" "${choice[@]}" -- resources/workloads/train_gpt.py
echo
"${gpuscope[@]}" advise "$name.gpuscope"
echo

if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    echo "Opening the window on $name.gpuscope"
    exec "${gpuscope[@]}" open "$name.gpuscope"
fi
"${gpuscope[@]}" report "$name.gpuscope" -o "$name.pdf"
echo "There is no display here, so no window was opened: the report is $name.pdf, and the session is $name.gpuscope."
echo "On a machine with a display, this opens it: ${gpuscope[*]} open $name.gpuscope"
