#!/usr/bin/env bash
# Makes a small base image: busybox as init and shell, a web server on port 80.
# usage: busybox.sh OUTPUT.tar.gz|.tar.bz2|.tar.xz [MEGABYTES OF FILLER]
set -euo pipefail
output=$(realpath -m "${1:?usage: busybox.sh OUTPUT [MEGABYTES]}")
filler=${2:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rootfs=$work/rootfs

mkdir -p "$rootfs"/{bin,sbin,dev,etc/init.d,proc,root,run,sys,tmp,usr/bin,usr/sbin,var/lib,var/log,srv}
chmod 1777 "$rootfs/tmp"
cp "$(command -v busybox)" "$rootfs/bin/busybox"
for applet in $("$rootfs/bin/busybox" --list); do
    [[ $applet == busybox || -e $rootfs/bin/$applet ]] || ln -s busybox "$rootfs/bin/$applet"
done
ln -s ../bin/busybox "$rootfs/sbin/init"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$rootfs/etc/passwd"
printf 'root:x:0:\n' >"$rootfs/etc/group"
printf 'it works\n' >"$rootfs/srv/index.html"
cat >"$rootfs/etc/inittab" <<'INITTAB'
::sysinit:/etc/init.d/rcS
::respawn:/bin/httpd -f -p 80 -h /srv
::shutdown:/bin/sync
INITTAB
cat >"$rootfs/etc/init.d/rcS" <<'RCS'
#!/bin/sh
echo "guest is starting"
[ -w /tmp ] || echo "no writable /tmp"
RCS
chmod 755 "$rootfs/etc/init.d/rcS"
if ((filler)); then head -c "$((filler << 20))" /dev/urandom >"$rootfs/srv/filler"; fi
cat >"$work/metadata.yaml" <<METADATA
architecture: $(uname -m)
creation_date: $(date +%s)
properties:
  os: busybox
  name: busybox
  description: small base image with a web server
  ready_port: 80
METADATA

case $output in
*.gz | *.tgz) how=--gzip ;;
*.bz2) how=--bzip2 ;;
*.xz) how=--xz ;;
*) echo "busybox.sh: $output: use .tar.gz, .tar.bz2 or .tar.xz" >&2 && exit 2 ;;
esac
tar -C "$work" --owner=0 --group=0 --numeric-owner "$how" -cf "$output.part" metadata.yaml rootfs
mv "$output.part" "$output"
