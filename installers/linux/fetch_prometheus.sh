#!/usr/bin/env bash
# Unpacks Debian's Prometheus and node-exporter into build/prometheus, for the tests of clusters: nothing is installed.
set -euo pipefail

cd "$(dirname "$0")/../.."
folder=build/prometheus
[[ -x $folder/usr/bin/prometheus && -x $folder/usr/bin/prometheus-node-exporter ]] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "gpuscope: apt-get is not here, so the tests with a real Prometheus are left out." >&2
    exit 0
fi
mkdir -p "$folder"
cd "$folder"
[[ $(id -u) != 0 ]] || apt-get update -qq || true
if ! apt-get download -qq prometheus prometheus-node-exporter; then
    echo "gpuscope: Debian's Prometheus cannot be downloaded, so the tests with a real one are left out." >&2
    exit 0
fi
for package in *.deb; do
    dpkg-deb --extract "$package" .
    rm "$package"
done
