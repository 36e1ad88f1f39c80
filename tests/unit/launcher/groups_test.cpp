// Which hierarchy gets which group, limit and owner, in folders that stand for the kernel's.
#include "libsvc/runtime/lxc/launcher/groups.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace svc::lxc;
namespace fs = std::filesystem;

namespace {

using Kind = Hierarchy::Kind;

// The files that the kernel makes in every group.
const std::vector<std::string> all_files = {"cgroup.procs",
                                            "tasks",
                                            "cgroup.threads",
                                            "cgroup.subtree_control",
                                            "cgroup.max.descendants",
                                            "cgroup.max.depth",
                                            "cpuset.cpus",
                                            "cpuset.mems",
                                            "memory.limit_in_bytes",
                                            "memory.max",
                                            "memory.oom.group",
                                            "memory.reclaim",
                                            "pids.max",
                                            "cgroup.controllers"};

class Machine {
  public:
    explicit Machine(std::vector<Hierarchy> hierarchies) {
        char name[] = "/tmp/svc-groups-XXXXXX";
        top_ = ::mkdtemp(name);
        plan_.group = "svc-br/c1";
        plan_.monitor_group = "svc-br/c1.monitor";
        plan_.first_id = ::getegid();
        for (Hierarchy& hierarchy : hierarchies) {
            hierarchy.mount = top_ / hierarchy.mount;
            for (const char* group : {"", "svc-br", "svc-br/c1", "svc-br/c1.monitor"})
                make(fs::path(hierarchy.mount) / group);
            std::ofstream(fs::path(hierarchy.mount) / "cpuset.cpus") << "0-1\n";
            std::ofstream(fs::path(hierarchy.mount) / "cpuset.mems") << "0\n";
        }
        plan_.hierarchies = std::move(hierarchies);
    }
    ~Machine() { fs::remove_all(top_); }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    Plan& plan() { return plan_; }
    void write(const std::string& file, const std::string& text) const { std::ofstream(top_ / file) << text; }
    std::string text(const std::string& file) const {
        std::ostringstream content;
        content << std::ifstream(top_ / file).rdbuf();
        return content.str();
    }
    unsigned mode(const std::string& file) const {
        struct stat info {};
        return ::stat((top_ / file).c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
    }
    bool has(const std::string& file) const { return fs::exists(top_ / file); }

  private:
    static void make(const fs::path& group) {
        fs::create_directories(group);
        for (const std::string& file : all_files) {
            std::ofstream(group / file).flush();
            ::chmod((group / file).c_str(), 0644);
        }
        ::chmod(group.c_str(), 0755);
    }

    fs::path top_;
    Plan plan_;
};

const Hierarchy memory{Kind::version_1, "memory", "memory"};
const Hierarchy cores{Kind::version_1, "cpuset,cpu", "cores"};
const Hierarchy systemd{Kind::named, "-", "systemd"};
const Hierarchy unified{Kind::version_2, "-", "unified"};

}  // namespace

TEST_CASE("groups of version 1: limits where the controller is, the guest has the hierarchy without one") {
    Machine machine({memory, cores, systemd});
    machine.plan().limits = {{"memory", "memory.limit_in_bytes", "1048576", false}};
    const Groups groups(machine.plan());
    CHECK(groups.version_2() == -1);
    CHECK(machine.text("memory/svc-br/c1/memory.limit_in_bytes") == "1048576");
    CHECK(machine.text("cores/svc-br/c1/memory.limit_in_bytes").empty());
    CHECK(machine.text("cores/svc-br/cpuset.cpus") == "0-1\n");
    CHECK(machine.text("cores/svc-br/c1/cpuset.cpus") == "0-1\n");
    CHECK(machine.text("cores/svc-br/c1/cpuset.mems") == "0\n");
    CHECK(machine.text("memory/svc-br/c1/cpuset.cpus").empty());
    CHECK(machine.mode("systemd/svc-br/c1") == 0775);
    CHECK(machine.mode("systemd/svc-br/c1/cgroup.procs") == 0664);
    CHECK(machine.mode("memory/svc-br/c1") == 0755);
    CHECK(machine.mode("memory/svc-br/c1/cgroup.procs") == 0644);
    groups.enter(4711);
    for (const std::string name : {"memory", "cores", "systemd"})
        CHECK(machine.text(name + "/svc-br/c1/cgroup.procs") == "4711");
}

TEST_CASE("groups of both versions: limits in version 1, the guest may divide its group of version 2") {
    Machine machine({memory, systemd, unified});
    machine.plan().limits = {{"memory", "memory.limit_in_bytes", "1048576", false}};
    const Groups groups(machine.plan());
    CHECK(groups.version_2() >= 0);
    CHECK(machine.text("memory/svc-br/c1/memory.limit_in_bytes") == "1048576");
    CHECK(machine.text("unified/svc-br/c1/cgroup.max.depth") == "12");
    CHECK(machine.text("unified/svc-br/c1/cgroup.max.descendants") == "4096");
    CHECK(machine.mode("unified/svc-br/c1/cgroup.subtree_control") == 0664);
    groups.enter(4711);
    CHECK(machine.text("unified/svc-br/c1/cgroup.procs").empty());  // clone3() puts the process there
    Groups::existing(machine.plan()).enter_all(4712);
    CHECK(machine.text("unified/svc-br/c1/cgroup.procs") == "4712");
    CHECK(!machine.has("unified/svc-br/c1/svc.entered"));
}

TEST_CASE("groups of version 2: each level hands its controllers down, the guest's own does not") {
    Machine machine({unified});
    machine.plan().limits = {{"memory", "memory.max", "1048576", true}, {"pids", "pids.max", "100", true}};
    for (const std::string level : {"unified", "unified/svc-br"}) {
        machine.write(level + "/cgroup.controllers", "cpu io memory pids\n");
        machine.write(level + "/cgroup.subtree_control", "cpu pids io\n");
    }
    const Groups groups(machine.plan());
    CHECK(machine.text("unified/svc-br/c1/memory.max") == "1048576");
    for (const std::string file :
         {"memory.oom.group", "memory.reclaim"})  // as the kernel says in cgroup/delegate
        CHECK(machine.mode("unified/svc-br/c1/" + file) == 0664);
    CHECK(machine.mode("unified/svc-br/c1/memory.max") == 0644);
    CHECK(machine.text("unified/svc-br/c1/pids.max") == "100");
    for (const std::string level : {"", "/svc-br"})
        CHECK_THAT(machine.text("unified" + level + "/cgroup.subtree_control"), Catch::StartsWith("+memory"));
    CHECK(machine.text("unified/svc-br/c1/cgroup.subtree_control").empty());
    CHECK(machine.mode("unified/svc-br/c1/memory.max") == 0644);
}

TEST_CASE("groups of version 2: what is handed down already, or not there, is not written again") {
    Machine machine({unified});
    machine.write("unified/cgroup.controllers", "cpuset cpu\n");
    machine.write("unified/cgroup.subtree_control", "cpu cpuset\n");
    const Groups groups(machine.plan());
    CHECK(machine.text("unified/cgroup.subtree_control") == "cpu cpuset\n");
    CHECK(machine.text("unified/svc-br/cgroup.subtree_control").empty());
}

TEST_CASE("a limit that no hierarchy can set is a failed start") {
    Machine machine({memory, unified});
    machine.plan().limits = {{"pids", "pids.max", "100", false}};
    CHECK_THROWS_WITH(Groups(machine.plan()), "no control group can limit 'pids.max'");
}

TEST_CASE("the monitor's group is where service managers look") {
    Machine machine({memory, systemd, unified});
    Groups::enter_monitor_group(machine.plan());
    CHECK(machine.text("systemd/svc-br/c1.monitor/cgroup.procs") == "0");
    CHECK(machine.text("unified/svc-br/c1.monitor/cgroup.procs") == "0");
    CHECK(machine.text("memory/svc-br/c1.monitor/cgroup.procs").empty());
}
