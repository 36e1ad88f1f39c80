"""The rooms (folders) of each front end, from the bottom up: what a room is for, and which rooms its files may include.

A room may name only rooms above it in its table, so that no two can include each other; `layers.py` holds this, and each
#include against the table. "" is the folder of the front end itself, and "*" stands for every room above. What each may use
of libsvc is in `layers.py`; what the layers of libsvc may use of each other in `libsvc/meson.build`."""

ROOMS = {
    "server": {
        "process": ("what svcd, svc-gateway and svc-metrics are as processes: signals, flags, configuration, sockets", []),
        "http": ("what an HTTP service of ours does with each request before and after its route", ["process"]),
        "metrics": ("the figures of the cluster and of hypervisors", ["process", "http"]),
        "cluster": ("several managers: what is passed on to the leader, and what comes from it", ["process", "http"]),
        "state": ("tools for a state directory: check, recover, export, import", ["process"]),
        "routes": ("one file per noun: decode, call the service, encode", ["process", "http", "metrics"]),
        "metrics-agent": ("svc-metrics, a program of its own", ["process", "http"]),
        "gateway/routes": ("the same for the gateway", ["http"]),
        "gateway": ("svc-gateway, a program of its own", ["process", "http", "cluster", "gateway/routes"]),
        "": ("svcd: options, the composition of all of it, periodic jobs", ["process", "http", "metrics", "cluster", "routes", "state"]),
    },
    "cli": {
        "command_line": ("commands as data; parser, help and completion read a table of them", []),
        "terminal": ("standard streams, progress bars, questions, raw terminals", []),
        "tracks": ("GPX files and NMEA logs: places in time", []),
        "output": ("documents as tables, JSON, YAML and CSV", ["command_line"]),
        "views": ("records of the service as documents, a file per noun", ["output"]),
        "connection": ("which service or gateway is asked, and how: flags, environment, known remotes", ["command_line", "terminal"]),
        "actions": ("what several commands do: find an object, wait for an operation, run a command in an instance",
                    ["command_line", "connection", "output", "terminal"]),
        "commands": ("one file per noun; all_commands.cpp lists them", ["*"]),
        "": ("main() and the exit status", ["command_line", "connection", "commands", "output"]),
    },
    "instance-agent": {
        "shared": ("what agent and streamer both know", []),
        "libsvcguest": ("C library of the guest interface, for programs of the guest", []),
        "samples": ("programs that show libsvcguest and streaming", ["libsvcguest"]),
    },
    "instance-agent/agent": {
        "static_libc": ("functions of the C library that a static program does without", []),
        "files": ("where the agent's files and sockets lie, who may reach them; files that are bounded or survive a restart", []),
        "logging": ("the agent's log file and log level", ["files"]),
        "processes": ("programs in the guest: run, supervise, keep running; the first process of the instance", ["files"]),
        "transfer": ("files on their way into the instance and out of it", []),
        "service": ("calls of the management service", []),
        "application": ("the application of an Android guest: its start, and the watchdog", ["files"]),
        "android": ("what an Android guest is given before its init runs: binder, /dev, its arguments", ["files", "processes", "shared"]),
        "phases": ("what is done before, with and after the guest: packages, hooks, extra data, readiness",
                   ["android", "application", "files", "processes", "service", "shared"]),
        "control": ("the control API: an HTTP service on a Unix socket", ["files", "logging"]),
        "guest": ("the guest interface: a socket for programs of the guest", ["files"]),
        "devices": ("what all devices have in common", ["files", "guest"]),
        "devices/tracing": ("traces, and what other devices write into them", ["control", "devices", "guest", "processes"]),
        "devices/display": ("which way the screen is turned", ["devices"]),
        "devices/camera": ("pictures and video for the guest's camera",
                           ["control", "devices", "devices/display", "devices/tracing", "files", "guest", "processes"]),
        "devices/location": ("the place of the instance: guests, gpsd",
                             ["control", "devices", "devices/tracing", "files", "processes"]),
        "devices/sensors": ("values of sensors", ["control", "devices", "devices/tracing", "files", "guest", "processes"]),
        "devices/platform": ("settings of the platform that a client or operator may change",
                             ["control", "devices", "files", "shared"]),
        "devices/stream": ("the streamer's session at the guest interface", ["devices", "devices/platform"]),
        "devices/telephony": ("SIM, network, calls and messages", ["control", "devices", "files", "guest"]),
        "devices/vehicle": ("vehicle properties", ["control", "devices", "guest", "processes"]),
        "ctl": ("svc-agent ctl: the control API for scripts",
                ["devices/sensors", "devices/telephony", "devices/vehicle", "files"]),
        "": ("main(), options, the composition of devices and sockets, the life of the agent", ["*"]),
    },
    "instance-agent/streamer": {
        "threads": ("the queue of the one thread that decides", []),
        "display": ("the X screen that is streamed", []),
        "sound": ("whether the guest listens to the microphone", []),
        "input": ("the client's keyboard, mouse, touch and gamepads, by X or the kernel", ["display"]),
        "peer": ("a WebRTC connection to a client, without a media library", ["threads"]),
        "guest": ("what is asked of the agent, and what the agent tells", ["libsvcguest", "peer", "threads"]),
        "client": ("the conversation with a client, by gateway and data channels", ["guest", "input", "peer", "threads"]),
        "metrics": ("figures of the stream and its event log", ["peer"]),
        "media/gstreamer": ("GStreamer's objects in C++", []),
        "media/meters": ("counts and bitrates, and the probes that feed them", ["media/gstreamer", "peer"]),
        "media/video": ("the display on its way out, the camera on its way in", ["display", "media/gstreamer", "media/meters", "peer"]),
        "media/sound": ("the guest's sound and the client's microphone", ["media/gstreamer", "media/meters", "media/video"]),
        "media/peer": ("a peer by GStreamer's webrtcbin",
                       ["media/gstreamer", "media/meters", "media/video", "media/sound", "peer", "shared"]),
        "": ("main(), options, the composition of all of it", ["*", "shared"]),
    },
}

# Includes against the order that are still there. A row goes when its last include goes.
AGAINST_THE_ORDER = {
    ("server/gateway/routes", "server/gateway"): "its response, authenticate and web files stand in the root of the gateway",
}
