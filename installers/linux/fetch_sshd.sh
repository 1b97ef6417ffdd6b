#!/usr/bin/env bash
# Unpacks Debian's ssh server into build/sshd, for the tests of machines that are reached by ssh: nothing is installed.
set -euo pipefail

cd "$(dirname "$0")/../.."
folder=build/sshd
[[ -x $folder/usr/sbin/sshd ]] && compgen -G "$folder/usr/lib/*/libnss_wrapper.so" >/dev/null && exit 0
if ! command -v apt-get >/dev/null; then
    echo "gpuscope: apt-get is not here, so the tests with a real sshd are left out." >&2
    exit 0
fi
mkdir -p "$folder"
cd "$folder"
[[ $(id -u) != 0 ]] || apt-get update -qq || true
if ! apt-get download -qq openssh-server libwrap0 libnss-wrapper; then
    echo "gpuscope: Debian's ssh server cannot be downloaded, so the tests with a real one are left out." >&2
    exit 0
fi
for package in *.deb; do
    dpkg-deb --extract "$package" .
    rm "$package"
done
