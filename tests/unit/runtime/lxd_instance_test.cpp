#include "libsvc/runtime/lxd/instance.h"

#include <catch2/catch.hpp>

#include "libsvc/runtime/lxd/connection.h"
#include "tests/support/error_code.h"

using namespace svc;
using namespace svc::test;

namespace {

LxdOptions some_lxd_options() {
    LxdOptions options;
    options.network.bridge = "svcbr0";
    options.network.subnet = "192.168.100.1/20";
    options.agent = "/usr/lib/svc/svc-agent";
    return options;
}

lxc::StoredSpec some_lxd_container() {
    lxc::StoredSpec stored;
    stored.spec.id = "c1";
    stored.spec.name = "svc-c1";
    stored.spec.layers = {"base"};
    stored.spec.address = "192.168.100.2";
    return stored;
}

std::string config_value(const lxc::StoredSpec& stored, const char* key) {
    return lxd::text_of(lxd::config_of(stored, some_lxd_options()), key);
}

}  // namespace

TEST_CASE("ranges of ids for LXD lie within root's entry, behind the shared range") {
    CHECK(lxd::id_bases("user:1:65536\nroot:100000:262144\n") ==
          std::vector<std::uint32_t>{165536, 231072, 296608});
    CHECK(lxd::id_bases("root:100000:65536\n").empty());
    CHECK(lxd::id_bases("").front() == 1'065'536);
}

TEST_CASE("an instance that was asked for is found again") {
    lxc::StoredSpec stored = some_lxd_container();
    stored.placed = {"/etc/hostname"};
    Json record = lxd::creation_of(stored, some_lxd_options(), "pool", "fingerprint", 165536);
    record.set("status", "Stopped");
    const auto instance = lxd::parse_instance(record, "svcbr0");
    REQUIRE(instance);
    CHECK(lxc::same_container(instance->stored.spec, stored.spec));
    CHECK(instance->stored.placed == stored.placed);
    CHECK(instance->id_base == 165536);
    CHECK_FALSE(instance->ready);
    CHECK_FALSE(lxd::parse_instance(record, "svcbr1"));
}

TEST_CASE("cores are pinned or shared, never both") {
    lxc::StoredSpec stored = some_lxd_container();
    CHECK(config_value(stored, "limits.cpu.allowance").empty());
    stored.spec.cpus = 1.5;
    CHECK(config_value(stored, "limits.cpu.allowance") == "150ms/100ms");
    stored.spec.cpus = 2;
    stored.spec.pin_cpus = true;
    CHECK(config_value(stored, "limits.cpu") == "2");
    CHECK(config_value(stored, "limits.cpu.allowance").empty());
}

TEST_CASE("an init cannot add lines to the configuration of LXD") {
    lxc::StoredSpec stored = some_lxd_container();
    stored.spec.init = "/sbin/init\nlxc.hook.start-host = /bin/true";
    CHECK(code_of([&] { lxd::config_of(stored, some_lxd_options()); }) == ErrorCode::invalid_argument);
}

TEST_CASE("a refusal of LXD means what its text says, and names no path") {
    CHECK(lxd::refusal(400, "Instance is busy running a \"stop\" operation").code() == ErrorCode::busy);
    CHECK(lxd::refusal(500, "write /var/x: no space left on device").code() == ErrorCode::exhausted);
    CHECK(lxd::refusal(404, "Instance not found").code() == ErrorCode::not_found);
    CHECK(std::string(lxd::refusal(500, "open /var/lib/lxd/secret failed").what()).find("/var") ==
          std::string::npos);
}
