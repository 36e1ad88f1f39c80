#!/usr/bin/env bash
# Makes the addon svc-streamer: the program, its loader, and exactly the libraries and GStreamer plugins it needs, taken from
# this machine, so that it runs in any guest of this architecture; and libsvcgamepad for programs of the guest, from the build
# folder or the installation that the program is of.
# usage: package.sh PROGRAM OUTPUT.tar.bz2 [PLUGIN...]   more GStreamer plugins, for example va and nvcodec
set -euo pipefail
program=${1:?usage: package.sh PROGRAM OUTPUT.tar.bz2 [PLUGIN...]}
output=$(realpath -m "${2:?usage: package.sh PROGRAM OUTPUT.tar.bz2 [PLUGIN...]}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What a pipeline of the streamer may name: pictures, sound, encoders, WebRTC; then a client's camera; screenshots
# and recordings.
plugins=(coreelements app videoconvertscale videorate videotestsrc ximagesrc x264 vpx aom
    audioconvert audioresample audiotestsrc pulseaudio opus rtp rtpmanager srtp dtls sctp webrtc nice
    openh264 videoparsersbad png isomp4 "${@:3}")
plugin_folder=$(pkg-config --variable=pluginsdir gstreamer-1.0)

# needed FILE...: the libraries that these name, directly or not, and the loader.
needed() { ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3} $1 ~ /^\/.*ld-linux/ {print $1}' | sort -u; }

# built_library NAME: where the build or `meson install` has put it.
built_library() {
    local place
    for place in "$(dirname "$program")"/../{gamepad,lib,lib/*}/"$1"; do
        [ ! -e "$place" ] || { echo "$place"; return; }
    done
    echo "package.sh: no $1 beside $program" >&2
    return 1
}

mkdir -p "$work"/{bin,lib,plugins,none,gamepad}
# What is not asked for ports needs no library for that, nor what comes with it.
upnp=libgupnp-igd-1.0.so.4
"${CC:-cc}" -shared -fPIC -O1 -Wl,-soname,$upnp -o "$work/lib/$upnp" "$here/no_upnp.c"
export LD_LIBRARY_PATH=$work/lib
cp -r "$here/addon/." "$work/"
install -m 755 -s "$program" "$work/bin/svc-streamer"
gamepad=$(built_library libsvcgamepad.so)
install -m 644 -s "$gamepad" "$work/gamepad/"
files=("$program")
for plugin in "${plugins[@]}"; do
    cp "$plugin_folder/libgst$plugin.so" "$work/plugins/"
    files+=("$plugin_folder/libgst$plugin.so")
done
# NSS, which encrypts media, finds its own parts by itself: beside it.
for part in softokn3 freebl3 freeblpriv3; do
    files+=("$(pkg-config --variable=libdir gstreamer-1.0)/lib$part.so")
    cp "${files[-1]}" "$work/lib/"
done
! ldd "${files[@]}" 2>&1 | grep 'not found' >&2 || { echo "package.sh: a library is missing" >&2; exit 1; }
for library in $(needed "${files[@]}"); do
    case $library in
    "$work"/*) ;;
    *ld-linux*) install -m 755 "$library" "$work/lib/loader" ;;
    *) cp -L "$library" "$work/lib/" ;;
    esac
done
chmod 755 "$work/svc-streamer" "$work/hooks"/*
chmod 644 "$work/plugins"/*
tar -C "$work" --owner=0 --group=0 --numeric-owner --sort=name --bzip2 -cf "$output.part" manifest.yaml hooks svc-streamer bin lib plugins none gamepad
mv "$output.part" "$output"
