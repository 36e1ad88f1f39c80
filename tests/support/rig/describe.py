"""Writes cluster.json and env of a rig into its folder. What it is comes from the environment."""
import json
import os

RIG = os.environ
FOLDER, SCHEME, NET = RIG["DIR"], RIG["SCHEME"], RIG["NET"]


def machine(number):
    address, folder = f"{NET}.0.{10 + number}", f"{FOLDER}/{number}"
    parts = {"number": number, "member": f"m{number}", "host": f"{RIG['NAME']}{number}", "address": address, "folder": folder}
    if RIG["LXD"] == "1":
        parts |= {"lxd_socket": f"{folder}/lxd/unix.socket", "lxd_url": f"https://{address}:8443"}
    if number <= int(RIG["ETCD"]):
        parts["etcd_url"] = f"{SCHEME}://{address}:2379"
    return parts


def certificates(name):
    return {"client_certificate": f"{FOLDER}/tls/{name}.crt", "client_key": f"{FOLDER}/tls/{name}.key"}


def cluster():
    return {"machines": [machine(i + 1) for i in range(int(RIG["SIZE"]))], "pool": "svc", "pool_driver": RIG["POOL"], "uplink": "eth0",
            "subnet": f"{NET}.0.0/16", "instances": f"{NET}.1.0-{NET}.254.254",
            "lxd": {**certificates("lxd"), "server_certificate": f"{FOLDER}/1/lxd/cluster.crt"} if RIG["LXD"] == "1" else {},
            "etcd": {"ca": f"{FOLDER}/tls/ca.crt", **certificates("client")} if SCHEME == "https" else {}}


def environment(whole):
    yield "RIG_DIR", FOLDER
    yield "ETCDCTL_API", "3"
    yield "ETCDCTL_ENDPOINTS", ",".join(m["etcd_url"] for m in whole["machines"] if "etcd_url" in m)
    if whole["etcd"]:
        for name, key in (("CACERT", "ca"), ("CERT", "client_certificate"), ("KEY", "client_key")):
            yield f"ETCDCTL_{name}", whole["etcd"][key]
    if whole["lxd"]:
        yield "LXD_CERT", whole["lxd"]["client_certificate"]
        yield "LXD_KEY", whole["lxd"]["client_key"]
        yield "LXD_URLS", ",".join(m["lxd_url"] for m in whole["machines"])


def main():
    whole = cluster()
    with open(f"{FOLDER}/cluster.json", "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=1)
    with open(f"{FOLDER}/env", "w", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in environment(whole))


main()
