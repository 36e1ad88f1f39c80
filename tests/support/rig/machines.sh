# Sourced by rig: the machines themselves.
# shellcheck shell=bash
# shellcheck disable=SC2154 # of rig

address() { echo "$net.0.$((10 + $1))"; }

# The machine's first process, while it lives.
init_of() {
    local pid
    pid=$(cat "$dir/$1/init" 2>/dev/null) || return 1
    [[ $pid && $(readlink "/proc/$pid/ns/pid" 2>/dev/null) == "$(cat "$dir/$1/namespace")" ]] && echo "$pid"
}

# The control groups of machine N, those that are there.
groups_of() {
    local folder
    for folder in /sys/fs/cgroup/"$name$1" /sys/fs/cgroup/*/"$name$1"; do
        [[ ! -d $folder ]] || echo "$folder"
    done
}

# Moves this shell into the control groups of machine N, which are made when absent.
enter_groups() {
    local hierarchy folder
    for hierarchy in /sys/fs/cgroup/ /sys/fs/cgroup/*/; do
        [[ -e ${hierarchy}cgroup.procs && $hierarchy != /sys/fs/cgroup/"$name"* ]] || continue
        [[ $hierarchy == /sys/fs/cgroup/ || ! -e /sys/fs/cgroup/cgroup.procs ]] || continue # version 2 alone
        folder=$hierarchy$name$1
        mkdir -p "$folder"
        if [[ -e $folder/cpuset.cpus && -e $folder/cgroup.clone_children ]]; then
            cat "$hierarchy/cpuset.cpus" >"$folder/cpuset.cpus"
            cat "$hierarchy/cpuset.mems" >"$folder/cpuset.mems"
            echo 1 >"$folder/cgroup.clone_children"
        fi
        [[ ! -d $folder/processes ]] || folder=$folder/processes
        echo "$BASHPID" >"$folder/cgroup.procs"
    done
}

# inside N CMD...: runs in machine N. With RIG_CLOCK=1 its time of day is that of `rig clock N`.
inside() {
    local pid machine=$1
    shift
    pid=$(init_of "$machine") || die "machine $machine is switched off"
    (
        enter_groups "$machine"
        export LXD_DIR=$dir/$machine/lxd RIG_MACHINE=$machine
        [[ ${RIG_CLOCK:-0} == 0 ]] || wind_clock "$machine"
        exec nsenter -t "$pid" -m -u -i -n -p -C --wdns="$PWD" -- "$@"
    )
}

# There is no namespace for the time of day: programs that libc tells the time are told another one.
wind_clock() {
    [[ -e $dir/$1/clock ]] || echo +0 >"$dir/$1/clock"
    local library
    library=$(find /usr/lib -name libfaketime.so.1 -print -quit)
    [[ $library ]] || die "needs faketime"
    export LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$dir/$1/clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
}

power_on() {
    local machine=$1
    ! init_of "$machine" >/dev/null || return 0
    mkdir -p "$dir/$machine"
    rm -f "$dir/$machine/"*.pid
    (
        enter_groups "$machine"
        exec setsid unshare --mount --uts --ipc --net --pid --cgroup --fork --propagation slave \
            "$here/machine" "$name$machine" >"$dir/$machine/machine.log" 2>&1 </dev/null
    ) &
    local outer=$! inner
    inner=$(first_child "$outer") || die "machine $machine does not start: $(cat "$dir/$machine/machine.log")"
    echo "$inner" >"$dir/$machine/init"
    readlink "/proc/$inner/ns/pid" >"$dir/$machine/namespace"
    wait_for 20 "machine $machine" test -e "/proc/$inner/root/run/switched-on"
    connect "$machine" "$inner"
}

# The first process of the machine that process PID starts, once it has namespaces of its own.
first_child() {
    local child namespace
    while child=$(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        namespace=$(readlink "/proc/${child% }/ns/pid") || namespace=
        if [[ $namespace && $namespace != "$(readlink /proc/self/ns/pid)" ]]; then
            echo "${child% }"
            return
        fi
        sleep 0.02
    done
    return 1
}

connect() { # N INIT
    ip link add "$name$1" type veth peer name eth0 netns "$2"
    ip link set "$name$1" master "${name}br" up
    inside "$1" sh -c "
        ip address add $(address "$1")/16 dev eth0 && ip link set eth0 up &&
        ip route add default via $net.0.1 &&
        sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.conf.all.accept_local=0 &&
        sysctl -qw net.ipv6.conf.all.proxy_ndp=1 net.ipv6.conf.eth0.proxy_ndp=1 net.ipv4.neigh.eth0.proxy_delay=0"
}

power_off() {
    local pid
    if pid=$(init_of "$1"); then
        kill -9 "$pid"
        wait_for 20 "the end of machine $1" test ! -e "/proc/$pid"
    fi
    ip link delete "$name$1" 2>/dev/null || true # goes with the namespace, a moment later
    rm -f "$dir/$1/init"
}

# The last resort ends what a machine has that was not switched on as a whole.
remove_groups() {
    local folder
    for folder in $(groups_of "$1"); do
        wait_for 10 "the end of $folder" remove_group "$folder"
    done
}

remove_group() {
    find "$1" -name cgroup.procs -print0 | xargs -0 cat | xargs --no-run-if-empty kill -9
    find "$1" -depth -type d -exec rmdir {} +
}
