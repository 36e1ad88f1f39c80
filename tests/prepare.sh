# Sourced by quickstart and run-tests: installs what is missing, builds. Needs root only when something is missing.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${SVC_BUILD_DIR:-$root/build}

say() { printf '== %s\n' "$*" >&2; }
fail() {
    printf 'Error: %s\n' "$*" >&2
    exit 1
}

# install_packages KIND...: the packages of these kinds in packages.debian that are not there yet.
install_packages() {
    local kinds=" $* " kind name missing=()
    while read -r kind name; do
        [[ $kinds == *" $kind "* ]] || continue
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
    done < <(grep -v '^#' "$root/tests/packages.debian")
    ((${#missing[@]})) || return 0
    [[ $(id -u) == 0 ]] || fail "run as root: these packages are missing: ${missing[*]}"
    say "installing ${missing[*]}"
    apt-get update -qq >/dev/null
    local status=0
    forbid_services
    trap allow_services EXIT
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || status=$?
    allow_services
    trap - EXIT
    # Nor at the next boot. Without systemd there is nothing to switch off.
    for name in "${missing[@]}"; do
        case $name in
            prometheus | coturn | etcd-server) systemctl --quiet disable --now "${name%-server}.service" 2>/dev/null || true ;;
        esac
    done
    return "$status"
}

# The packages' own services are not wanted: no bridge of theirs, no firewall, no Prometheus, no relay, no etcd.
service_policy=/usr/sbin/policy-rc.d
forbid_services() {
    [[ ! -e $service_policy ]] || return 0
    printf '#!/bin/sh\n# made by %s\nexit 101\n' "${BASH_SOURCE[0]##*/}" >"$service_policy"
    chmod 755 "$service_policy"
}
allow_services() {
    ! grep -qs '^# made by prepare.sh$' "$service_policy" || rm -f "$service_policy"
}

# build_programs [MESON OPTION...] [-- TARGET...]: all targets, unless some are named.
build_programs() {
    local options=()
    while (($#)) && [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    (($# == 0)) || shift
    if [[ ! -f $build/build.ninja ]]; then
        say "configuring ${build#"$root"/}"
        CC=${CC:-ccache gcc} CXX=${CXX:-ccache g++} meson setup "$build" "$root" "${options[@]}" >/dev/null ||
            fail "meson setup failed: see $build/meson-logs/meson-log.txt"
    fi
    # Who works on the project sees a warning; continuous integration does not let one pass.
    [[ ! ${CI:-} ]] || meson configure "$build" -Dwerror=true >/dev/null
    say "building into ${build#"$root"/}"
    run_ninja "$@" || fail "the build failed"
}

# run_ninja [TARGET...]: a terminal sees each step of ninja in one line; a log gets a line for each twentieth of the
# steps, and all that the compilers say.
run_ninja() {
    if [[ -t 1 ]]; then
        ninja -C "$build" "$@"
        return
    fi
    local line step shown=0 form='^(\[([0-9]+)/([0-9]+), +[0-9.]+ s\]) '
    NINJA_STATUS='[%f/%t, %e s] ' ninja -C "$build" "$@" 2>&1 | while IFS= read -r line; do
        if [[ $line =~ $form ]]; then
            step=$((20 * BASH_REMATCH[2] / BASH_REMATCH[3]))
            ((step == shown)) || echo "   ${BASH_REMATCH[1]}"
            shown=$step
        elif [[ $line != 'ninja: Entering directory'* && $line != 'ninja: no work to do.' ]]; then
            echo "$line"
        fi
    done >&2
}

# prepare_streamer [enabled]: a build folder that was made without the streamer is told to have it.
prepare_streamer() {
    [[ -z ${1:-} || ! -f $build/build.ninja ]] || meson configure "$build" "-Dstreamer=$1" >/dev/null
}

# The console's libraries and some tests come from npm. Where it cannot be installed, svcd has no console, and those tests are skipped.
prepare_npm() {
    if ! command -v npm >/dev/null && [[ $(id -u) == 0 ]]; then
        say "installing npm"
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null || true
    fi
}

# The validator of the API's document, from npm into the build folder. Its test is skipped where this does not work.
prepare_validator() {
    python3 "$root/tests/lint/openapi_valid.py" --prepare "$build/npm" >&2 || true
}

# The kernel of the virtual machine of a long system test, likewise. [SUITE...]
prepare_kernel() {
    [[ " $* " == *" system "* || " $* " == *" long "* ]] || return 0
    SVC_BUILD_DIR=$build python3 "$root/tests/support/kernel_machine.py" --prepare >&2 || true
}

# What drives Chromium, likewise.
prepare_browser() {
    SVC_BUILD_DIR=$build python3 "$root/tests/browser/chromium.py" --prepare >&2 || true
}

# An OpenID provider to log in at, likewise.
prepare_provider() {
    SVC_BUILD_DIR=$build python3 "$root/tests/oidc/provider.py" --prepare >&2 || true
}

# The system tests' Debian and desktop, from Debian's mirror into the build folder: takes minutes, most of them waiting. [SUITE...]
prepare_debian_image() {
    [[ $# == 0 || " $* " == *" system "* ]] || return 0
    SVC_BUILD_DIR=$build PYTHONPATH=$root/tests/system python3 -c '
import harness, streaming
harness.debian_image()
streaming.desktop_image()' >/dev/null 2>&1
}
