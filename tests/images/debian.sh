#!/usr/bin/env bash
# Makes a base image of a minimal Debian with systemd, from Debian packages.
# usage: debian.sh OUTPUT.tar.gz [SUITE [MORE,PACKAGES]]
set -euo pipefail
output=$(realpath -m "${1:?usage: debian.sh OUTPUT.tar.gz [SUITE [MORE,PACKAGES]]}")
suite=${2:-bookworm}
more=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mmdebstrap --quiet --variant=minbase --include=systemd-sysv,dbus,iproute2,procps,ca-certificates${more:+,$more} \
    --customize-hook='rm -f "$1"/etc/resolv.conf; echo svc >"$1"/etc/hostname; : >"$1"/etc/machine-id' \
    --customize-hook='chroot "$1" systemctl mask systemd-networkd.service sys-kernel-debug.mount >/dev/null' \
    "$suite" "$work/rootfs.tar"
mkdir "$work/rootfs"
tar -C "$work/rootfs" --numeric-owner --exclude='./dev/*' -xpf "$work/rootfs.tar"
cat >"$work/metadata.yaml" <<METADATA
architecture: $(uname -m)
creation_date: $(date +%s)
properties:
  os: debian
  release: $suite
  name: debian
  description: minimal Debian with systemd
  ready_command: case \$(systemctl is-system-running) in running|degraded) ;; *) exit 1 ;; esac
METADATA
tar -C "$work" --numeric-owner --gzip -cf "$output.part" metadata.yaml rootfs
mv "$output.part" "$output"
