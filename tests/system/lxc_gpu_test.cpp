// GPUs that enter a container. A device that every machine has takes the place of a render device.
#include <sys/sysmacros.h>

#include <catch2/catch.hpp>

#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

const dev_t zeros = ::makedev(1, 5);  // /dev/zero

struct Gpus : LxcFixture {
    Gpus() {
        options().devices = directory() / "dev";
        options().cdi = {directory() / "cdi"};
        reopen();
        add_layer("base", patient_init);
    }
    void add_device(const std::string& name) {
        std::filesystem::create_directories(options().devices / "dri");
        REQUIRE(::mknod((options().devices / "dri" / name).c_str(), S_IFCHR | 0660, zeros) == 0);
    }
    // D128 has a device, a file and a variable of its own.
    void add_cdi(const std::string& host_device) {
        std::filesystem::create_directories(options().cdi.front());
        write_file_atomically(directory() / "libcandy.so", "library", 0644);
        REQUIRE((::mkfifo((directory() / "maker.pipe").c_str(), 0666) == 0 || errno == EEXIST));
        write_file_atomically(options().cdi.front() / "maker.yaml",
                              "kind: maker.example/gpu\n"
                              "containerEdits:\n"
                              "  env: ['MAKER_GPU=all of it']\n"
                              "  mounts: [{hostPath: " +
                                  (directory() / "libcandy.so").native() +
                                  ", containerPath: /opt/maker/libcandy.so}, {hostPath: " +
                                  (directory() / "maker.pipe").native() +
                                  ", containerPath: /opt/maker/pipe}]\n"
                                  "devices:\n"
                                  "- name: '0'\n"
                                  "  containerEdits: {deviceNodes: [{path: /dev/dri/renderD128},\n"
                                  "    {path: /dev/maker/caps/one, hostPath: " +
                                  host_device + "}]}\n");
    }
    void start(const std::string& id, unsigned host_number, std::vector<std::string> gpus) {
        ContainerSpec made = spec(id, host_number);
        made.gpus = std::move(gpus);
        const mode_t before = ::umask(077);  // as svcd has it
        runtime().create(made);
        runtime().start(id);
        ::umask(before);
    }
    std::string inside(const std::string& id, const std::string& script) {
        return run_inside(runtime(), id, {"/bin/sh", "-c", script}).output;
    }
};

constexpr const char* as_another_user = "echo u:x:1000:1000::/:/bin/sh >/etc/passwd; su u -c ";

}  // namespace

TEST_CASE_METHOD(Gpus, "the GPUs of a container, and no others, can be used in it") {
    add_device("renderD128");
    add_device("renderD129");
    start("one", 2, {"D129"});
    CHECK(inside("one", "ls /dev/dri") == "renderD129\n");
    const std::string read = "'head -c 2 /dev/dri/renderD129 | od -An -tx1'";
    CHECK(inside("one", as_another_user + read) == " 00 00\n");
    CHECK(inside("one", "stat -c %u:%g:%t:%T /dev/dri/renderD129") == "0:0:1:5\n");
    start("both", 3, {"D128", "D129"});
    CHECK(inside("both", "ls /dev/dri") == "renderD128\nrenderD129\n");
    start("none", 4, {});
    CHECK(inside("none", "ls /dev | grep dri") == "");
}

TEST_CASE_METHOD(Gpus, "a start after the GPUs changed has the new ones") {
    add_device("renderD128");
    start("gpu", 2, {"D128"});
    runtime().stop("gpu", Duration(0));
    start("gpu", 2, {});
    CHECK(inside("gpu", "ls /dev | grep dri") == "");
    CHECK_FALSE(std::filesystem::exists(container("gpu") / "devices"));
}

TEST_CASE_METHOD(Gpus, "a start without the device fails and names it") {
    ContainerSpec made = spec("lost");
    made.gpus = {"D128"};
    runtime().create(made);
    CHECK_THROWS_WITH(runtime().start("lost"),
                      Catch::Contains("no device " + (options().devices / "dri/renderD128").native()));
    add_device("renderD128");
    runtime().start("lost");
    CHECK(inside("lost", "ls /dev/dri") == "renderD128\n");
}

TEST_CASE_METHOD(Gpus, "what belongs to a GPU by the machine's files enters with it, and with no other") {
    add_device("renderD128");
    add_device("renderD129");
    add_cdi("/dev/zero");
    start("one", 2, {"D128"});
    CHECK(inside("one", "ls /dev/dri") == "renderD128\n");
    CHECK(inside("one", as_another_user + std::string("'head -c 2 /dev/maker/caps/one | od -An -tx1'")) ==
          " 00 00\n");
    CHECK(inside("one", "cat /opt/maker/libcandy.so") == "library");
    CHECK(inside("one", "ls /opt/maker") == "libcandy.so\n");
    CHECK(inside("one", "echo x >/opt/maker/libcandy.so || echo refused") == "refused\n");
    CHECK(inside("one", "tr '\\0' '\\n' </proc/1/environ | grep MAKER") == "MAKER_GPU=all of it\n");
    start("other", 3, {"D129"});
    CHECK(inside("other", "ls -d /dev/maker /opt/maker 2>/dev/null") == "");
    runtime().stop("one", Duration(0));
    start("one", 2, {});
    CHECK(inside("one", "ls -d /dev/maker 2>/dev/null") == "");
}

TEST_CASE_METHOD(Gpus, "the machine tells which of its GPUs bring more with them") {
    for (const char* name : {"renderD128", "renderD129"}) {
        const auto device = directory() / "sys/class/drm" / name / "device";
        std::filesystem::create_directories(device);
        write_file_atomically(device / "vendor", "0x10de\n");
    }
    options().sysfs = directory() / "sys";
    reopen();
    CHECK(runtime().capacity().details.at("cdi") == Json::object());
    add_cdi("/dev/zero");
    CHECK(runtime().capacity().details.at("cdi") == Json::object({{"D128", "maker.example/gpu=0"}}));
    const auto wrong = options().cdi.front() / "wrong.json";
    write_file_atomically(wrong, "{");
    CHECK(runtime().capacity().details.at("cdi").find(wrong.native()) != nullptr);
}

TEST_CASE_METHOD(Gpus, "a start without what a GPU brings with it fails and names it") {
    add_device("renderD128");
    add_cdi("/dev/nowhere");
    ContainerSpec made = spec("lost");
    made.gpus = {"D128"};
    runtime().create(made);
    CHECK_THROWS_WITH(runtime().start("lost"), Catch::Contains("GPU is not there: no device /dev/nowhere"));
    add_cdi("/dev/zero");
    std::filesystem::remove(directory() / "libcandy.so");
    CHECK_THROWS_WITH(runtime().start("lost"),
                      Catch::Contains("GPU is not there: no file " + (directory() / "libcandy.so").native()));
    add_cdi("/dev/zero");
    runtime().start("lost");
    CHECK(inside("lost", "ls /dev/maker/caps") == "one\n");
}
