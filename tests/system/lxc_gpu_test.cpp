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
        reopen();
        add_layer("base", patient_init);
    }
    void add_device(const std::string& name) {
        std::filesystem::create_directories(options().devices / "dri");
        REQUIRE(::mknod((options().devices / "dri" / name).c_str(), S_IFCHR | 0660, zeros) == 0);
    }
    void start(const std::string& id, unsigned host_number, std::vector<std::string> gpus) {
        ContainerSpec made = spec(id, host_number);
        made.gpus = std::move(gpus);
        runtime().create(made);
        runtime().start(id);
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
