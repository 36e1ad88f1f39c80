#include "libsvc/runtime/lxc/records.h"

#include <catch2/catch.hpp>

using namespace svc;
using namespace svc::lxc;

namespace {

ContainerSpec example_record() {
    ContainerSpec spec;
    spec.id = "abc";
    spec.name = "svc-abc";
    spec.layers = {"lower", "upper"};
    spec.cpus = 2;
    spec.memory_bytes = std::uint64_t{3} << 30;
    spec.disk_bytes = 5;
    spec.processes = 7;
    spec.address = "192.168.100.2";
    PortForward forward;
    forward.port = 22;
    forward.node_port = 10000;
    forward.tcp = true;
    spec.forwards = {forward};
    spec.allowed_endpoints = {{"10.0.0.5", 4000, true, false}, {"192.168.100.1", 8095, true, true}};
    spec.init = "/bin/init";
    spec.run_agent = false;
    spec.gpus = {"D128"};
    return spec;
}

}  // namespace

TEST_CASE("a stored specification comes back as it was, without the files") {
    ContainerSpec spec = example_record();
    spec.files = {{"/secret", "do not store", 0600}};
    spec.boot_by_agent = spec.pin_cpus = spec.android = true;
    const Json json = to_json(StoredSpec{spec, 42, {"/secret"}});
    CHECK(json.dump().find("do not store") == std::string::npos);
    const StoredSpec back = stored_spec_from_json(Json::parse(json.dump()));
    CHECK(back.project == 42);
    CHECK(back.spec.files.empty());
    CHECK(back.placed == std::vector<std::string>{"/secret"});
    CHECK(back.spec.boot_by_agent);
    CHECK(back.spec.pin_cpus);
    CHECK(back.spec.android);
    CHECK(same_container(back.spec, spec));
    CHECK(back.spec.forwards == spec.forwards);
    CHECK(back.spec.gpus == spec.gpus);
    CHECK(back.spec.allowed_endpoints == spec.allowed_endpoints);
    spec.memory_bytes += 1;
    CHECK_FALSE(same_container(back.spec, spec));
}

TEST_CASE("a run record comes back as it was") {
    RunRecord run;
    run.monitor = {10, 111};
    run.init = {11, 112};
    run.started_at = from_rfc3339("2024-01-02T03:04:05.678901234Z");
    const RunRecord back = run_record_from_json(Json::parse(to_json(run).dump()));
    CHECK(back.monitor == run.monitor);
    CHECK(back.init == run.init);
    CHECK(back.agent == ProcessId{});
    CHECK(back.started_at == run.started_at);
    CHECK_FALSE(back.stopped);
    CHECK_FALSE(back.once);
    run.once = run.stopped = true;
    CHECK(run_record_from_json(to_json(run)).once);
    CHECK(run_record_from_json(to_json(run)).stopped);
}

TEST_CASE("the exit code of a command that ran alone is told from the status of init") {
    CHECK(exit_code_of(0) == 0);
    CHECK(exit_code_of(3 << 8) == 3);
    CHECK(exit_code_of((9 << 8) | 0x7f) == 137);
    CHECK(has_run(0));
    CHECK(has_run((9 << 8) | 0x7f));
    CHECK_FALSE(has_run(1));
    CHECK_FALSE(has_run(-1));
}

TEST_CASE("the end of a container is described from init's status") {
    CHECK(describe_exit(0, 0).clean);
    CHECK(describe_exit(0, 5).reason == "init exited with status 0");
    CHECK(describe_exit(3 << 8, 0).reason == "init exited with status 3");
    CHECK_FALSE(describe_exit(3 << 8, 0).clean);
    CHECK(describe_exit(137 << 8, 1).reason == "init exited with status 137 (out of memory)");
    CHECK(describe_exit((2 << 8) | 0x7f, 0).clean);
    CHECK(describe_exit((9 << 8) | 0x7f, 2).reason ==
          "init was killed by signal 9 (SIGKILL) (out of memory)");
    CHECK(describe_exit((40 << 8) | 0x7f, 0).reason == "init was killed by signal 40");
    CHECK(describe_exit(-1, 0).reason == "init could not be started");
    CHECK(describe_exit(std::nullopt, 0).reason == "the monitor of the container was killed");
}

TEST_CASE("the first error of a log of liblxc is the reason") {
    CHECK(first_lxc_error(
              "lxc-start c1 20240102030405.678 NOTICE   start - ../src/start.c:start:1 - fine\n"
              "lxc-start c1 20240102030405.679 ERROR    conf - ../src/conf.c:lxc_map_ids:3708 - no such - "
              "thing\n"
              "lxc-start c1 20240102030405.680 ERROR    start - ../src/start.c:spawn:1788 - later\n") ==
          "no such - thing");
    CHECK(first_lxc_error("nothing here\n") == "");
}

TEST_CASE("a specification of a newer version of the program is refused, not read by half") {
    Json json = to_json(StoredSpec{example_record(), 0, {}});
    json.set("schema", 2);
    CHECK_THROWS_WITH(stored_spec_from_json(json), "it has schema 2, this version of the program knows 1");
    json.set("schema", "1");
    CHECK_THROWS(stored_spec_from_json(json));
}
