# Sourced by rig: etcd and LXD in the machines.
# shellcheck shell=bash
# shellcheck disable=SC2154 # of rig

scheme() { if [[ $tls == 1 ]]; then echo https; else echo http; fi; }

# has N etcd|lxd: whether machine N is to run it.
has() {
    case $2 in
        etcd) (($1 <= etcd_members)) ;;
        lxd) [[ $lxd == 1 ]] ;;
    esac
}

daemon_pid() { # N lxd|etcd: its pid inside the machine, while it lives
    local pid
    init_of "$1" >/dev/null && pid=$(cat "$dir/$1/$2.pid" 2>/dev/null) || return 1
    [[ $(inside "$1" cat "/proc/$pid/comm" 2>/dev/null) == "$2" ]] && echo "$pid"
}

start_daemon() { # N NAME CMD...
    local machine=$1 daemon=$2
    shift 2
    ! daemon_pid "$machine" "$daemon" >/dev/null || return 0
    # shellcheck disable=SC2016 # expanded inside
    RIG_CLOCK=0 inside "$machine" setsid sh -c '
        out=$1; shift
        "$@" >>"$out.log" 2>&1 </dev/null &
        echo $! >"$out.pid"' sh "$dir/$machine/$daemon" "$@"
}

kill_daemon() { # N NAME
    local pid
    pid=$(daemon_pid "$1" "$2") || return 0
    inside "$1" kill -9 "$pid"
    while daemon_pid "$1" "$2" >/dev/null; do sleep 0.02; done
}

start_lxd() {
    has "$1" lxd || return 0
    mkdir -p "$dir/$1/lxd"
    start_daemon "$1" lxd lxd --group root
}

# What every member of etcd is told of TLS.
etcd_security() {
    [[ $tls == 1 ]] || return 0
    local for_whom
    for for_whom in "" peer-; do
        printf '%s\n' "--${for_whom}cert-file=$dir/tls/$1.crt" "--${for_whom}key-file=$dir/tls/$1.key" \
            "--${for_whom}trusted-ca-file=$dir/tls/ca.crt" "--${for_whom}client-cert-auth"
    done
}

start_etcd() {
    has "$1" etcd || return 0
    local own i members="" security
    own=$(address "$1")
    for ((i = 1; i <= etcd_members; i++)); do members+="m$i=$(scheme)://$(address "$i"):2380,"; done
    mapfile -t security < <(etcd_security "$1")
    mkdir -p "$dir/$1/etcd"
    chmod 700 "$dir/$1/etcd"
    start_daemon "$1" etcd etcd --name "m$1" --data-dir "$dir/$1/etcd" \
        --listen-peer-urls "$(scheme)://$own:2380" --initial-advertise-peer-urls "$(scheme)://$own:2380" \
        --listen-client-urls "$(scheme)://$own:2379" --advertise-client-urls "$(scheme)://$own:2379" \
        --initial-cluster "${members%,}" --initial-cluster-token "$name" --initial-cluster-state new \
        --auto-compaction-mode periodic --auto-compaction-retention 1h --max-txn-ops 1024 \
        --logger zap --log-level warn "${security[@]}"
}

# slow_disk N WRITES|off: the etcd that runs in machine N may write so often a second, as on a disk that is overworked.
slow_disk() {
    local pid
    pid=$(daemon_pid "$1" etcd) || die "no etcd runs in machine $1"
    # shellcheck disable=SC2016 # expanded inside
    inside "$1" sh -c '
        group=/sys/fs/cgroup/blkio/etcd
        [ -d /sys/fs/cgroup/blkio ] || group=/sys/fs/cgroup/etcd
        mkdir -p "$group"
        if [ -e "$group/io.max" ]; then
            echo "$2 wiops=$(echo "$3" | sed s/off/max/)" >"$group/io.max"
        else
            echo "$2 $(echo "$3" | sed s/off/0/)" >"$group/blkio.throttle.write_iops_device"
        fi
        echo "$1" >"$group/cgroup.procs"' sh "$pid" "$(disk_of "$dir")" "$2" || die "this kernel limits no writes"
}

# The number of the whole disk that a folder is on.
disk_of() {
    local part
    part=$(stat -c '%Hd:%Ld' "$1")
    if [[ -e /sys/dev/block/$part/partition ]]; then
        cat "/sys/dev/block/$part/../dev"
    else
        echo "$part"
    fi
}
