#!/usr/bin/env python3
"""Real containers on a machine as many users have it and those that run the tests do not: version 2 of control groups alone, and
AppArmor. The same programs as system-lxc-*, by each launcher, in a virtual machine."""
import os
import unittest

import harness
import kernel_machine

PROGRAMS = {"SVC_LXC_HELPER": "libsvc/runtime/lxc/helper/svc-lxc", "SVC_LAUNCH_HELPER": "libsvc/runtime/lxc/launcher/svc-launch",
            "SVC_AGENT": "instance-agent/svc-agent", "SVC_LONE_INIT": "tests/system/svc-test-lone-init"}
TOOLS = {"/bin/cp": "/bin/cp", "/bin/dash": "/bin/sh", "/bin/tar": "/usr/bin/tar", "/sbin/ip": "/sbin/ip", "/usr/sbin/nft": "/usr/sbin/nft"}
SCRIPT = """#!/bin/sh
echo 0 >/proc/sys/kernel/printk
mkdir -p /dev/shm
{environment}
echo "### machine"
cat /sys/module/apparmor/parameters/enabled
grep -c ' cgroup ' /proc/mounts
echo "### tests"
{command} -d yes
status=$?
echo "### status"
echo $status
echo "### left"
ls /sys/kernel/security/apparmor/policy/namespaces
cat /sys/kernel/security/apparmor/profiles
exit 0
"""


def missing():
    if kernel_machine.missing():
        return kernel_machine.missing()
    return None if kernel_machine.APPARMOR.is_dir() else "needs the programs of AppArmor that run-tests fetches"


@unittest.skipIf(missing(), missing())
class Containers(unittest.TestCase):
    def passes(self, launcher, program, cases):
        machine = kernel_machine.KernelMachine()
        self.addCleanup(machine.close)
        for name in [*PROGRAMS.values(), "tests/system/" + program]:
            machine.add(harness.BUILD / name, "/usr/bin/" + os.path.basename(name))
        for source, target in TOOLS.items():
            machine.add(source, target)
        machine.write("/usr/lib/x86_64-linux-gnu/lxc/rootfs/README", "")
        machine.add_apparmor()
        environment = "".join(f"export {name}=/usr/bin/{os.path.basename(path)}\n" for name, path in PROGRAMS.items())
        output = machine.run(SCRIPT.format(environment=environment + f"export SVC_LXC_LAUNCHER={launcher}\n",
                                           command=f"{program} '{cases}'"))
        if os.environ.get("SVC_SHOW"):
            print(output)
        told = kernel_machine.sections(output)
        self.assertEqual(told["machine"], ["Y", "0"])
        self.assertEqual((told["status"], told["left"]), (["0"], []), output[-20000:])
        self.assertIn("All tests passed", output)


def cases_of(*files):
    return ",".join(f"[#lxc_{name}_test]" for name in files)


# One machine each, below its limit of time on a busy machine.
RUNS = {
    "confinement_by_liblxc": ("liblxc", "system-lxc-runtime", cases_of("apparmor")),
    "confinement_by_own": ("own", "system-lxc-runtime", cases_of("apparmor", "launcher")),
    "isolation_by_own": ("own", "system-lxc-runtime", cases_of("isolation", "exec", "once", "runtime")),
    "ends_by_own": ("own", "system-lxc-runtime", cases_of("contract", "ends")),
    "agent_by_own": ("own", "system-lxc-agent", "*"),
}
for name, run in RUNS.items():
    setattr(Containers, f"test_{name}", lambda self, run=run: self.passes(*run))


if __name__ == "__main__":
    harness.cases.main()
