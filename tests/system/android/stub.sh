#!/system/bin/sh
# The programs of a stub of Android, by the name they are called with. They write down what they were asked.
export PATH=/system/bin
name=${0##*/}
[ "$name" = init ] || [ "$name" = getprop ] || [ "$name" = pidof ] || echo "$name $*" >>/data/calls

case $name in
    init)
        tr '\0' ' ' </proc/1/cmdline >/data/cmdline
        trap 'echo told to shut down >/data/stopped; exit 0' TERM
        echo "init: first stage" >/dev/kmsg
        if ! grep -qs 'no manager' /var/lib/svc-agent/userdata; then
            binder-probe serve "$(cat /etc/hostname)" >/data/servicemanager 2>&1 &
            echo $! >/data/servicemanager.pid
        fi
        touch /data/booted
        while :; do
            sleep 1000 &
            wait $!
        done
        ;;
    getprop) [ "$1" != sys.boot_completed ] || [ ! -e /data/booted ] || echo 1 ;;
    pm) [ "$1" != path ] || echo "package:/data/app/base.apk" ;;
    am) [ "$1" != start ] || echo "${4%%/*}" >/data/foreground ;;
    dumpsys) [ "$2" != activities ] || echo "  topResumedActivity=ActivityRecord{1f u0 $(cat /data/foreground)/.Main t7}" ;;
    pidof) echo 1 ;;
    logcat)
        echo "I/stub: the log of Android"
        exec sleep 1000
        ;;
esac
