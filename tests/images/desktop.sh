#!/usr/bin/env bash
# Makes a base image of a small Debian desktop without a screen: X server, window manager, terminal, sound.
# usage: desktop.sh OUTPUT.tar.gz
set -euo pipefail
output=$(realpath -m "${1:?usage: desktop.sh OUTPUT.tar.gz}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=systemd-sysv,dbus,iproute2,procps,xvfb,openbox,xterm,x11-xserver-utils,pulseaudio,fonts-dejavu-core

# Everything of the desktop belongs to uid 1000, who may use the agent's sockets. The X server lets in whoever reaches its
# socket, which nobody outside of the instance does; its size is the largest a screen can be given.
mkdir -p "$work/files"/etc/{systemd/system,pulse,xdg/openbox}
cat >"$work/files/etc/systemd/system/desktop-screen.service" <<'UNIT'
[Unit]
Description=X server without a screen
[Service]
User=user
ExecStart=/usr/bin/Xvfb :0 -screen 0 3840x2160x24 -ac -nolisten tcp -noreset -extension GLX
Restart=always
[Install]
WantedBy=multi-user.target
UNIT
cat >"$work/files/etc/systemd/system/desktop-sound.service" <<'UNIT'
[Unit]
Description=Sound that nobody hears but a stream
[Service]
User=user
RuntimeDirectory=user/1000/pulse
RuntimeDirectoryMode=0700
Environment=HOME=/home/user PULSE_RUNTIME_PATH=/run/user/1000/pulse
ExecStart=/usr/bin/pulseaudio -n --daemonize=no --exit-idle-time=-1 --disallow-exit --log-target=stderr -F /etc/pulse/desktop.pa
Restart=always
[Install]
WantedBy=multi-user.target
UNIT
cat >"$work/files/etc/pulse/desktop.pa" <<'PULSE'
load-module module-null-sink sink_name=speaker
load-module module-null-sink sink_name=svc_microphone
set-default-sink speaker
set-default-source svc_microphone.monitor
load-module module-native-protocol-unix auth-anonymous=1 socket=/run/user/1000/pulse/native
PULSE
cat >"$work/files/etc/systemd/system/desktop-session.service" <<'UNIT'
[Unit]
Description=Window manager and a terminal
After=desktop-screen.service desktop-sound.service
Requires=desktop-screen.service
[Service]
Type=notify
NotifyAccess=all
User=user
WorkingDirectory=/home/user
Environment=DISPLAY=:0 HOME=/home/user PULSE_SERVER=unix:/run/user/1000/pulse/native
ExecStartPre=/bin/sh -c 'until xset -q >/dev/null 2>&1; do sleep 0.05; done'
ExecStart=/usr/bin/openbox --startup /usr/local/bin/desktop-autostart
Restart=always
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p "$work/files/usr/local/bin"
# The session is ready once the terminal is on the screen (-wf): a program that is started then opens above it.
cat >"$work/files/usr/local/bin/desktop-autostart" <<'AUTOSTART'
#!/bin/sh
xsetroot -solid '#2e3440'
xterm -wf -fa 'DejaVu Sans Mono' -fs 11 -geometry 80x24+40+60 -e sh -c 'systemd-notify --ready; exec bash' &
AUTOSTART
chmod 755 "$work/files/usr/local/bin/desktop-autostart"

# Packages drag in what nothing here loads: drivers of graphic cards, video codecs, a C preprocessor, Perl. Without it the image
# is a third of the size.
libraries=usr/lib/$(uname -m)-linux-gnu
unwanted="$libraries/lib{LLVM-,z3.,gs.,codec2.,x265.,avcodec.,mfx,SvtAv1Enc.,aom.,jxl,dav1d.,rav1e.,poppler.,icui18n.}* $libraries/{dri,mfx}
    $libraries/perl/5.* usr/share/perl usr/lib/{gcc,python3*} usr/bin/python3* usr/share/{doc,man,locale,poppler,ghostscript,info,lintian}
    usr/share/fonts/{type1,X11/Type1} var/cache/{apt,debconf,ldconfig,fontconfig}/* var/lib/apt/lists/* var/log/*.log"

mmdebstrap --quiet --variant=minbase --include="$packages" \
    --customize-hook='rm -f "$1"/etc/resolv.conf; echo svc >"$1"/etc/hostname; : >"$1"/etc/machine-id' \
    --customize-hook='chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash user' \
    --customize-hook="copy-in $work/files/etc $work/files/usr /" \
    --customize-hook='chroot "$1" systemctl mask systemd-networkd.service sys-kernel-debug.mount >/dev/null' \
    --customize-hook='chroot "$1" systemctl enable --quiet desktop-screen.service desktop-sound.service desktop-session.service' \
    --customize-hook="cd \"\$1\" && bash -c 'rm -rf $(tr '\n' ' ' <<<"$unwanted")'" \
    bookworm "$work/rootfs.tar"
mkdir "$work/rootfs"
tar -C "$work/rootfs" --numeric-owner --exclude='./dev/*' -xpf "$work/rootfs.tar"
cat >"$work/metadata.yaml" <<METADATA
architecture: $(uname -m)
creation_date: $(date +%s)
properties:
  os: debian
  release: bookworm
  name: desktop
  description: Debian with an X server, a window manager and a terminal
  ready_command: case \$(systemctl is-system-running) in running|degraded) ;; *) exit 1 ;; esac; DISPLAY=:0 xset -q >/dev/null
METADATA
tar -C "$work" --numeric-owner --gzip -cf "$output.part" metadata.yaml rootfs
mv "$output.part" "$output"
