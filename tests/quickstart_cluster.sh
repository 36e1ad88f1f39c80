# Sourced by quickstart: what --cluster starts instead of one svcd. Machines of namespaces, each with an etcd, maybe an LXD, and a manager.
# shellcheck shell=bash

machines=3
rig=$root/tests/support/rig/rig
export RIG_NAME=${SVC_CLUSTER_NAME:-svcq} RIG_NET=${SVC_CLUSTER_NET:-10.77} RIG_SIZE=$machines
cluster_dir=/var/tmp/$RIG_NAME

cluster_exists() { [[ -e /run/$RIG_NAME.rig || -d $cluster_dir ]]; }
of_cluster() { jq -r "$@" "$cluster_dir/cluster.json"; }
of_machine() { of_cluster ".machines[$1 - 1] | $2"; }
socket_of() { echo "$cluster_dir/$1/unix.socket"; }
ctl_of() { "$build/cli/svcctl" --socket "$(socket_of "$1")" "${@:2}"; }

# Instances, mounts, rules and groups go with the machines they are on.
stop_cluster() {
    say "removing the machines of the cluster"
    "$rig" down
    rm -rf "$cluster_dir"
    say "the cluster is gone (the build and the Debian packages stay)"
}

# start_machines RUNTIME
start_machines() {
    if [[ ! -e /run/$RIG_NAME.rig ]]; then
        [[ ! -d $cluster_dir ]] || say "removing what is left of a cluster from before this machine was booted"
        rm -rf "$cluster_dir"
    elif [[ $(cat "$cluster_dir/runtime" 2>/dev/null) != "$1" ]]; then
        fail "a cluster of another runtime, or half a cluster, is there; ./quickstart --stop removes it"
    fi
    local lxd=0
    [[ $1 != lxd ]] || lxd=1
    say "switching on $machines machines with etcd$( ((!lxd)) || echo " and LXD")"
    RIG_LXD=$lxd "$rig" up "$cluster_dir" >&2
    echo "$1" >"$cluster_dir/runtime"
}

# manager_config N RUNTIME: svcd.yaml of the manager of machine N.
manager_config() {
    local address
    address=$(of_machine "$1" .address)
    cat <<CONFIG
state_dir: $cluster_dir/$1/state
socket: $(socket_of "$1")
listen: "$address:8444"
metrics_listen: "$address:20002"
hypervisor_listen: none
runtime: $2
store: etcd
etcd_endpoints: $(of_cluster '[.machines[].etcd_url] | tostring')
etcd_ca: $(of_cluster .etcd.ca)
etcd_cert: $(of_cluster .etcd.client_certificate)
etcd_key: $(of_cluster .etcd.client_key)
manager_name: m$1
manager_listen: "$address:8445"
CONFIG
    [[ $2 != lxd ]] || echo "lxd: unix:$(of_machine "$1" .lxd_socket)"
}

answers() { curl -fs --unix-socket "$(socket_of "$1")" http://svc/1.0 >/dev/null; }

# start_manager N RUNTIME: returns when it is ready. It ends with its machine.
start_manager() {
    local folder=$cluster_dir/$1
    ! answers "$1" || return 0
    manager_config "$1" "$2" >"$folder/svcd.yaml"
    : >"$folder/svcd.log"
    # shellcheck disable=SC2016 # expanded inside
    "$rig" exec "$1" setsid sh -c '
        folder=$1; shift
        "$@" >>"$folder/svcd.log" 2>&1 </dev/null &
        echo $! >"$folder/svcd.pid"' sh "$folder" "$svcd" --config "$folder/svcd.yaml"
    await_manager "$1"
}

await_manager() {
    local folder=$cluster_dir/$1
    for _ in $(seq 300); do
        ! grep -q '^svcd: ready' "$folder/svcd.log" || return 0
        "$rig" exec "$1" kill -0 "$(cat "$folder/svcd.pid")" 2>/dev/null || break
        sleep 0.1
    done
    cat "$folder/svcd.log" >&2
    fail "the manager of m$1 did not become ready"
}

await_nodes() {
    for _ in $(seq 300); do
        [[ $(ctl_of 1 node list --filter status=online --format json | jq length) != "$machines" ]] || return 0
        sleep 0.1
    done
    ctl_of 1 node list >&2
    fail "not all nodes are online"
}

# instance_on N: one that runs on that node; launched when there is none.
instance_on() {
    local id
    id=$(svcctl list --filter status=running --filter app=greeter --filter "node=m$1" --format json | jq -r '.[0].id // empty')
    [[ $id ]] || id=$(svcctl launch greeter --node "m$1")
    echo "$id"
}

# greet_on N: a command in an instance there, through the manager of another machine. An instance whose machine was off counts as
# running until it was looked at.
greet_on() {
    local id shown=
    for _ in $(seq 100); do
        # shellcheck disable=SC2016 # expanded inside
        if id=$(instance_on "$1") && shown=$(ctl_of $(($1 % machines + 1)) exec "$id" -- sh -c 'cat /srv/index.html; echo "on $(hostname)"' 2>&1); then
            echo "$shown"
            return
        fi
        sleep 0.2
    done
    fail "no instance on m$1 answers: $shown"
}

show_cluster() {
    local i
    echo
    svcctl list
    cat <<SHOWN

Machines: m1 to m$machines, namespaces of this one, which reaches them at their addresses; what belongs to machine 1 is in $cluster_dir/1
SHOWN
    for ((i = 1; i <= machines; i++)); do
        printf '  m%s   socket %s   API https://%s:8444   metrics http://%s:20002/internal/1.0/metrics   log %s\n' "$i" "$(socket_of "$i")" \
            "$(of_machine "$i" .address)" "$(of_machine "$i" .address)" "$cluster_dir/$i/svcd.log"
    done
    cat <<SHOWN

Type next:
  export PATH=$build/cli:\$PATH
  svcctl --socket $(socket_of 1) node list
  svcctl --socket $(socket_of 2) launch greeter
  svcctl --socket $(socket_of 3) list
  export RIG_NAME=$RIG_NAME
  $rig status
  $rig kill 1 all          # the power of m1 fails: another manager leads on
  svcctl --socket $(socket_of 2) node list
  ./quickstart --cluster=$1    # switches on what is off
  ./quickstart --stop
SHOWN
}

# run_cluster RUNTIME
run_cluster() {
    local i
    start_machines "$1"
    for ((i = 1; i <= machines; i++)); do
        say "starting the manager of m$i (log: $cluster_dir/$i/svcd.log)"
        start_manager "$i" "$1"
    done
    socket=$(socket_of 1)
    await_nodes
    add_image busybox
    create_application
    for ((i = 1; i <= machines; i++)); do
        say "an instance on m$i, and a command in it through the manager of m$((i % machines + 1))"
        greet_on "$i"
    done
    show_cluster "$1"
}
