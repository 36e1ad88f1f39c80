# Sourced by quickstart: what --stream starts besides svcd.
# shellcheck shell=bash

gateway_state=/var/lib/svc-gateway
gateway_socket=/run/svc-gateway/unix.socket
gateway_pid_file=/run/svc-gateway/quickstart.pid
gateway_log=/var/log/svc-gateway-quickstart.log
metrics_pid_file=/run/svc-gateway/quickstart-metrics.pid
metrics_log=/var/log/svc-metrics-quickstart.log
bridge_address=192.168.100.1
gateway=$build/server/gateway/svc-gateway
gateway_url=https://127.0.0.1:4000
account=quickstart

gateway_ctl() { "$build/cli/svcctl" gateway "$@" --gateway-socket "$gateway_socket"; }

# stop_process PID_FILE
stop_process() {
    [[ -f $1 ]] || return 0
    local pid
    pid=$(cat "$1")
    ! kill "$pid" 2>/dev/null || tail --pid="$pid" -f /dev/null
    rm -f "$1"
}

stop_streaming() {
    stop_process "$gateway_pid_file"
    stop_process "$metrics_pid_file"
    rm -rf "$gateway_state" "$gateway_log" "$metrics_log"
    rmdir "$(dirname "$gateway_socket")" 2>/dev/null || true
}

# create_desktop: its image, the streamer's addon, and the application made of both, unless they are there.
create_desktop() {
    add_image desktop
    local work
    work=$(mktemp -d)
    if ! svcctl addon show svc-streamer >/dev/null 2>&1; then
        say "making the addon svc-streamer"
        "$root/instance-agent/streamer/package.sh" "$build/instance-agent/streamer/svc-streamer" "$work/svc-streamer.tar.bz2"
        svcctl addon add svc-streamer "$work/svc-streamer.tar.bz2" >/dev/null
    fi
    if ! svcctl application show desktop >/dev/null 2>&1; then
        say "creating the application desktop from $root/tests/samples/desktop"
        cp -r "$root/tests/samples/desktop" "$work/desktop"
        install -D "$build/instance-agent/samples/svc-stream-demo" "$work/desktop/bin/svc-stream-demo"
        svcctl application create "$work/desktop" >/dev/null
    fi
    rm -rf "$work"
    svcctl wait desktop >/dev/null
    [[ $(svcctl application show desktop --format json | jq '[.versions[] | select(.published)] | length') != 0 ]] ||
        svcctl application publish desktop 0 >/dev/null
}

write_gateway_config() {
    mkdir -p "$gateway_state" "$(dirname "$gateway_socket")"
    chmod 700 "$gateway_state"
    cat >"$gateway_state/quickstart.yaml" <<CONFIG
state_dir: $gateway_state
socket: $gateway_socket
listen: "[::]:4000"
instance_url: https://$bridge_address:4000
frame_ancestors: ["https://127.0.0.1:8444", "https://localhost:8444"]
metrics: {listen: "127.0.0.1:9105", user: prometheus, password: $(head -c 18 /dev/urandom | base64)}
regions:
  - {name: local, url: "unix://$socket", metrics_server: "influxdb:$bridge_address:8095,raw"}
CONFIG
}

start_streaming() {
    mkdir -p "$(dirname "$gateway_socket")"
    start_in_background svc-metrics "$metrics_pid_file" "$metrics_log" \
        "$build/server/metrics-agent/svc-metrics" --listen "$bridge_address:8095" --metrics-listen 127.0.0.1:9273
    [[ -f $gateway_state/quickstart.yaml ]] || write_gateway_config
    start_in_background svc-gateway "$gateway_pid_file" "$gateway_log" "$gateway" --config "$gateway_state/quickstart.yaml"
    for _ in $(seq 100); do
        [[ $(gateway_ctl region list --format json 2>/dev/null | jq length) != 1 ]] || return 0
        sleep 0.1
    done
    fail "the gateway does not reach svcd: see $gateway_log"
}

# name_gateway: the console of this machine's svcd shows the gateway's page in a frame, unless it has another gateway.
name_gateway() {
    [[ $(svcctl config show --format json | jq -r '.config."console.gateway_url"') ]] || svcctl config set console.gateway_url "$gateway_url" >/dev/null
}

# as_account TOKEN PATH [curl's options]: what the gateway answers that account.
# The token is not among curl's arguments, which every user of the machine can read.
as_account() { curl -fsk -H @<(printf 'Authorization: macaroon root=%s' "$1") "$gateway_url$2" "${@:3}"; }

# account_token: the gateway tells it once; kept for a second quickstart, root's alone. One that does not sign in any more
# (the account was deleted, a year is over) is replaced.
account_token() {
    local file=$gateway_state/quickstart.token token
    token=$(cat "$file" 2>/dev/null || true)
    if [[ -z $token ]] || ! as_account "$token" /1.0/regions >/dev/null; then
        gateway_ctl account delete "$account" >/dev/null 2>&1 || true
        token=$(gateway_ctl account create "$account") || fail "the gateway makes no account: see $gateway_log"
        rm -f "$file"
        (umask 077 && echo "$token" >"$file")
    fi
    echo "$token"
}

show_streaming() {
    local token=$1 id=$2
    cat <<SHOWN

Streaming
  page            $gateway_url/#token=$token
                  (the certificate is the gateway's own: accept it once; from elsewhere use this machine's address)
  token           $token   (kept in $gateway_state/quickstart.token)
  session         $id, of application desktop, ready to be joined
  in the console  svcctl ui, then Streams: the page in a frame, once the browser knows the certificate
  gateway         process $(cat "$gateway_pid_file"), state in $gateway_state, log in $gateway_log
  figures         curl http://127.0.0.1:9273/metrics    (of streams)
                  curl -ku prometheus:PASSWORD https://127.0.0.1:9105/internal/1.0/metrics    (PASSWORD: in $gateway_state/quickstart.yaml)

Type next, beside the page:
  svcctl gateway session list
  svcctl gateway session create desktop --joinable --account $account
  curl -k -H 'Authorization: macaroon root=$token' $gateway_url/1.0/sessions?recursion=true
SHOWN
}

# session_of TOKEN: one that the page shows that account and offers to join. What is there already is not made twice.
session_of() {
    local id
    id=$(as_account "$1" '/1.0/sessions?recursion=true' |
        jq -r '[.metadata[] | select(.app == "desktop" and .joinable and (.status == "active" or .status == "created"))][0].id // empty') ||
        fail "the gateway does not list sessions: see $gateway_log"
    [[ $id ]] || id=$(as_account "$1" /1.0/sessions/ \
        -d '{"app":"desktop","joinable":true,"idle_time_min":0,"ephemeral":true,"screen":{"width":1280,"height":720,"fps":30,"density":160}}' |
        jq -r .metadata.id) || fail "the gateway makes no session of desktop: see $gateway_log"
    echo "$id"
}

# start_session TOKEN: returns when it can be joined.
start_session() {
    local id
    id=$(session_of "$1") || exit 1 # -e does not hold here
    for _ in $(seq 600); do
        case $(gateway_ctl session show "$id" --format json | jq -r .status) in
        active) echo "$id"; return ;;
        created) sleep 0.1 ;;
        *) break ;;
        esac
    done
    gateway_ctl session show "$id" >&2
    fail "the session did not become active: see $gateway_log"
}
