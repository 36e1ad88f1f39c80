#!/bin/sh
# Runs in the virtual machine; android_test.py compares what it prints, section by section.
export SVC_SOCKET=/run/svc/unix.socket
mode=$1

small="--cpus 0.5 --memory 200MB --disk-size 100MB"
section() { echo "### $1"; }
inside() { svcctl exec "$1" -- /system/bin/sh -c "$2" 2>&1; }
start_service() {
    svcd --config /etc/svcd.yaml >/tmp/svcd.log 2>&1 &
    service=$!
    for _ in $(seq 600); do
        grep -q '^svcd: ready' /tmp/svcd.log && return
        sleep 0.1
    done
    cat /tmp/svcd.log
    exit 1
}
give_up() {
    echo "failed: $1"
    tail -n 60 /tmp/svcd.log
    exit 1
}

echo 0 >/proc/sys/kernel/printk
if [ "$mode" = without ]; then
    start_service
    section without
    svcctl image add droid /guest.tar.gz >/dev/null || give_up image
    svcctl launch droid $small --name one 2>&1
    exit 0
fi
devices=binder,hwbinder,vndbinder,svc-b0,svc-h0,svc-v0,svc-b1,svc-h1,svc-v1,svc-b2,svc-h2,svc-v2
[ "$mode" = devices ] || devices=
modprobe binder_linux devices=$devices || give_up modprobe
section spoilt
[ "$mode" != devices ] || /binder-probe claim 4711 /dev/svc-h2
start_service
section node
svcctl node show "$(hostname)" --format json || svcctl node list --format json

svcctl image add droid /guest.tar.gz >/dev/null || give_up image
# A guest that comes first, and whose root wants the devices for itself.
section steal
svcctl launch droid $small --name thief --userdata 'no manager' >/dev/null || give_up "launch of the thief"
inside thief 'binder-probe steal'
svcctl delete thief --yes >/dev/null || give_up "delete of the thief"

for name in one two; do
    svcctl launch droid $small --name $name --userdata '{"display_width":800,"display_height":600,"fps":30,"display_density":120}' >/dev/null ||
        give_up "launch of $name"
done
section cmdline
inside one 'cat /data/cmdline; echo' | sed 's/ $//'
section limits
inside one 'cat /proc/self/uid_map; ulimit -n; ulimit -e; ls -lL /dev/binder /dev/hwbinder /dev/vndbinder; ls -ld /dev/input; readlink /dev/kmsg'
section answers
for name in one two; do inside $name 'cat /data/servicemanager; binder-probe call'; done
section alone
inside two 'kill $(cat /data/servicemanager.pid); while kill -0 $(cat /data/servicemanager.pid) 2>/dev/null; do sleep 0.1; done; binder-probe call'
inside one 'binder-probe call'
section third
svcctl launch droid $small --name three 2>&1 >/dev/null
svcctl delete three --yes --force >/dev/null 2>&1
section logs
for _ in $(seq 300); do
    svcctl logs one -t android 2>&1 | grep -q 'log of Android' && break
    sleep 0.1
done
svcctl logs one -t android 2>&1
svcctl exec one -- getprop sys.boot_completed
grep -h 'first stage' /var/lib/svc/lxc/containers/*/console.log
section stop
svcctl stop two >/dev/null || give_up stop
svcctl start two >/dev/null || give_up start
inside two 'cat /data/stopped; cat /data/servicemanager; binder-probe call'
section again
kill -9 $service
wait $service 2>/dev/null
start_service
inside one 'binder-probe call'
svcctl delete one --yes >/dev/null || give_up delete
svcctl launch droid $small --name four >/dev/null || give_up "launch after a deletion"
inside four 'cat /data/servicemanager; binder-probe call'
section pause
svcctl pause four >/dev/null && svcctl list --format json | grep -c '"paused"'
svcctl resume four >/dev/null && inside four 'echo goes on'
section application
svcctl delete four --yes >/dev/null || give_up delete
svcctl application create /app >/dev/null || give_up application
svcctl wait candy >/dev/null || { svcctl application show candy; give_up "bootstrap"; }
svcctl launch candy --name five >/dev/null || { svcctl show five; give_up "launch of the application"; }
inside five 'cat /data/calls | grep -v "^logcat\|^dumpsys"'
exit 0
