#pragma once
// Two machines as network namespaces with a cable between them. On each a program of its own has the
// instances' network; guests are namespaces on its bridge.
#include <memory>

#include "libsvc/base/json.h"
#include "tests/system/two_guests.h"

namespace svc::test {

// A process that holds a network namespace, with /sys of it.
class Space {
  public:
    Space() : process_(options()) {
        if (!eventually([&] { return run("ls /sys/class/net").status.code == 0 && is_apart(); }))
            throw Error(ErrorCode::unavailable, "no network namespace");
        shell("ip link set lo up");
    }
    int pid() const { return process_.pid(); }
    std::vector<std::string> inside(std::vector<std::string> command) const {
        std::vector<std::string> all{"/usr/bin/nsenter", "-t", std::to_string(pid()), "-n", "-m"};
        all.insert(all.end(), command.begin(), command.end());
        return all;
    }
    CommandResult run(const std::string& script) const {
        return run_command(inside({"/bin/sh", "-ec", script}), patience);
    }
    std::string shell(const std::string& script) const {
        const CommandResult result = run(script);
        if (result.status.code != 0) throw Error(ErrorCode::internal, script + ": " + result.errors);
        return result.output;
    }

  private:
    static SpawnOptions options() {
        SpawnOptions options;
        options.arguments = {"/usr/bin/unshare", "-n", "-m",
                             "/bin/sh",          "-c", "mount -t sysfs sysfs /sys && exec sleep 100000"};
        options.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
        options.ends_with_us = true;
        return options;
    }
    bool is_apart() const {
        return run("test \"$(ls /sys/class/net)\" = lo && grep -c ' /sys sysfs' /proc/mounts").status.code ==
               0;
    }

    Child process_;
};

// The program `--network` of cluster_main.cpp: a line in, a line out.
class NetworkProgram {
  public:
    NetworkProgram(const Space& machine, const Json& options) {
        int in[2], out[2];
        if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw system_error("no pipe", errno);
        input_ = FileDescriptor(in[1]);
        output_ = FileDescriptor(out[0]);
        const FileDescriptor child_input(in[0]), child_output(out[1]);
        SpawnOptions spawn;
        spawn.arguments =
            machine.inside({"/proc/" + std::to_string(::getpid()) + "/exe", "--network", options.dump()});
        spawn.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
        spawn.descriptors = {{in[0], 0}, {out[1], 1}, {2, 2}};
        spawn.ends_with_us = true;
        process_ = std::make_unique<Child>(spawn);
        answer();
    }
    void tell(const Json& command) {
        write_all(input_.get(), command.dump() + "\n");
        answer();
    }
    void kill() {
        process_->kill(SIGKILL);
        process_->wait();
    }

  private:
    void answer() {
        std::string line;
        while (!line.ends_with("\n")) {
            pollfd entry{output_.get(), POLLIN, 0};
            char c = 0;
            if (::poll(&entry, 1, 60'000) <= 0 || ::read(output_.get(), &c, 1) != 1)
                throw Error(ErrorCode::unavailable, "the network's program has ended");
            line += c;
        }
        if (line != "ok\n") throw Error(ErrorCode::internal, line);
    }

    FileDescriptor input_, output_;
    std::unique_ptr<Child> process_;
};

struct TestMachine {
    TestMachine(std::string own_address, std::string own_subnet)
        : address(std::move(own_address)), subnet(std::move(own_subnet)) {
        guest_address = subnet.substr(0, subnet.rfind('.')) + ".9";
        gateway = subnet.substr(0, subnet.find('/'));
    }
    Json as_peer() const {
        return Json::object(
            {{"subnet", subnet}, {"address", address}, {"addresses", JsonArray{Json(address)}}});
    }
    void start(bool isolate, const JsonArray& peers) {
        program.reset();
        program = std::make_unique<NetworkProgram>(space, Json::object({{"subnet", subnet},
                                                                        {"address", address},
                                                                        {"isolate", isolate},
                                                                        {"peers", peers},
                                                                        {"guest", guest_address}}));
    }
    // As liblxc does it.
    void plug_guest() {
        const std::string device = lxc::device_prefix("svcbr0") + "g", inside = std::to_string(guest.pid());
        space.shell("ip link add " + device + " type veth peer name eth0 netns " + inside + "; ip link set " +
                    device + " master svcbr0 up");
        guest.shell("ip link set eth0 address " + lxc::hardware_address(guest_address) + "; ip addr add " +
                    guest_address + "/24 dev eth0; ip link set eth0 up; ip route add default via " + gateway);
    }

    Space space, guest;
    const std::string address, subnet;
    std::string guest_address, gateway;
    std::unique_ptr<NetworkProgram> program;
};

struct TwoMachines {
    explicit TwoMachines(bool isolate) : isolate(isolate) {
        a.space.shell("ip link add eth0 type veth peer name eth0 netns " + std::to_string(b.space.pid()));
        for (TestMachine* each : {&a, &b})
            each->space.shell("ip addr add " + each->address + "/24 dev eth0; ip link set eth0 up");
        a.start(isolate, {b.as_peer()});
        b.start(isolate, {a.as_peer()});
        a.plug_guest();
        b.plug_guest();
    }
    const bool isolate;
    TestMachine a{"192.0.2.1", "198.18.4.1/24"}, b{"192.0.2.2", "198.18.8.1/24"};
};

}  // namespace svc::test
