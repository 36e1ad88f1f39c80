# Sourced by rig: an authority, and a certificate for each etcd, each manager's connection to it, and for LXD's clients.
# shellcheck shell=bash
# shellcheck disable=SC2154 # of rig

make_certificates() {
    local i
    mkdir -p "$dir/tls"
    (
        cd "$dir/tls" || exit
        exec 2>openssl.log
        openssl req -x509 "${new_key[@]}" -days 3650 -subj "/CN=$name CA" -keyout ca.key -out ca.crt
        for i in $(seq "$size"); do sign "$i" "subjectAltName=IP:$(address "$i")"; done
        sign client ""
        # Whom LXD trusts: a certificate of its own, by fingerprint.
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-384 -nodes -days 3650 -subj "/CN=svc" -keyout lxd.key -out lxd.crt
    )
}

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)

# sign NAME EXTENSION. The JSON gateway of an etcd calls that etcd with the server's certificate: it has to do for both.
sign() {
    openssl req "${new_key[@]}" -subj "/CN=svc-$1" -keyout "$1.key" -out "$1.csr"
    printf '%s\n' "$2" "extendedKeyUsage=serverAuth,clientAuth" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile "$1.ext" -out "$1.crt"
}
