# Sourced by rig: the LXDs of the machines become members of one cluster.
# shellcheck shell=bash
# shellcheck disable=SC2154 # of rig

form_lxd_cluster() {
    [[ $lxd == 1 && $lxd_cluster == 1 ]] || return 0
    local i
    found_lxd_cluster
    for ((i = 2; i <= size; i++)); do join_lxd_cluster "$i"; done
}

preseed() { # N, and the document on the input
    wait_for 60 "LXD $1" inside "$1" lxc query /1.0
    inside "$1" lxd init --preseed >"$dir/$1/init.log" 2>&1 || die "LXD $1: $(cat "$dir/$1/init.log")"
}

found_lxd_cluster() {
    local size_line=
    [[ $pool == dir ]] || size_line="size: 8GiB"
    preseed 1 <<EOF
config:
  core.https_address: $(address 1):8443
cluster: {server_name: m1, enabled: true}
storage_pools:
- name: svc
  driver: $pool
  config: {$size_line}
profiles:
- name: default
  devices:
    root: {type: disk, path: /, pool: svc}
EOF
    inside 1 lxc config trust add "$dir/tls/lxd.crt" --name svc >>"$dir/1/init.log"
}

join_lxd_cluster() {
    local token
    token=$(inside 1 lxc cluster add "m$1" --quiet | tail -1)
    preseed "$1" <<EOF
cluster:
  enabled: true
  server_address: $(address "$1"):8443
  cluster_token: $token
  member_config:
  - {entity: storage-pool, name: svc, key: source, value: ""}
EOF
}
