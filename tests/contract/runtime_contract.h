#pragma once
// What every Runtime must do. For a new one, write a class with
//   Runtime& runtime(); LayerStore& layers();
//   package(): path of an image package;  init(): what its containers run;  scratch(): a folder to write to;
//   program("true"): path of `true` or `false` inside
//   address(), other_address(): two of its subnet;  free_port(): of the node
//   node(): where containers are to be; left out where there is one node
//   end(id, clean): the guest's init ends by itself
//   await_events(told, n): the events once there are n
// and call check_runtime() from a test case. Each section leaves nothing behind.
#include <poll.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"
#include "libsvc/runtime/runtime.h"
#include "tests/support/error_code.h"

namespace svc::test {

inline constexpr const char* contract_layer = "contract-layer";
inline constexpr const char* contract_id = "00000000000000000c01";

template <class World>
ContainerSpec contract_spec(World& world) {
    ContainerSpec spec;
    spec.id = contract_id;
    spec.name = "svc-" + spec.id;
    spec.layers = {contract_layer};
    spec.address = world.address();
    spec.disk_bytes = std::uint64_t{64} << 20;
    spec.run_agent = false;
    spec.init = world.init();
    if constexpr (requires { world.node(); }) spec.node = world.node();
    return spec;
}

// Reads until the other end closes.
inline std::string read_to_end(int fd) {
    std::string text;
    std::array<char, 4096> block{};
    for (;;) {
        pollfd waited{fd, POLLIN, 0};
        poll(&waited, 1, -1);
        const ssize_t count = read(fd, block.data(), block.size());
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (count <= 0) return text;
        text.append(block.data(), static_cast<std::size_t>(count));
    }
}

inline int await_exit(ExecProcess& process) {
    pollfd ended{process.ended(), POLLIN, 0};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
    return process.exit_code();
}

template <class World>
void check_layers(World& world) {
    LayerStore& layers = world.layers();
    layers.add(contract_layer, world.package(), {});
    layers.add(contract_layer, world.package(), {});
    CHECK(layers.contains(contract_layer));
    CHECK(layers.size(contract_layer) > 0);
    CHECK(layers.list() == std::vector<std::string>{contract_layer});
    layers.remove(contract_layer);
    layers.remove(contract_layer);
    CHECK_FALSE(layers.contains(contract_layer));
    LayerStore::Progress stopped;
    std::stop_source source;
    source.request_stop();
    stopped.stop = source.get_token();
    CHECK(code_of([&] { layers.add(contract_layer, world.package(), stopped); }) == ErrorCode::cancelled);
    CHECK_FALSE(layers.contains(contract_layer));
}

template <class World>
void check_life(World& world) {
    Runtime& runtime = world.runtime();
    world.layers().add(contract_layer, world.package(), {});
    runtime.create(contract_spec(world));
    runtime.create(contract_spec(world));
    CHECK(runtime.inspect(contract_id)->state != ContainerState::running);
    CHECK(code_of([&] { world.layers().remove(contract_layer); }) == ErrorCode::busy);
    runtime.start(contract_id);
    runtime.start(contract_id);
    CHECK(runtime.inspect(contract_id)->state == ContainerState::running);
    CHECK(runtime.inspect(contract_id)->started_at.has_value());
    CHECK(runtime.list().size() == 1);
    runtime.stop(contract_id, Duration::zero());
    runtime.stop(contract_id, Duration::zero());
    CHECK(runtime.inspect(contract_id)->state == ContainerState::stopped);
    runtime.start(contract_id);
    CHECK(runtime.inspect(contract_id)->state == ContainerState::running);
    runtime.remove(contract_id);
    runtime.remove(contract_id);
    CHECK_FALSE(runtime.inspect(contract_id).has_value());
    CHECK(runtime.list().empty());
    world.layers().remove(contract_layer);
}

// A frozen container runs, and takes no command; it goes on, ends and goes away like any other.
template <class World>
void check_freeze(World& world) {
    Runtime& runtime = world.runtime();
    world.layers().add(contract_layer, world.package(), {});
    runtime.create(contract_spec(world));
    const auto echo = [&] { return runtime.exec(contract_id, {{"echo", "hello"}, {}, false, 80, 24}); };
    CHECK(code_of([&] { runtime.freeze(contract_id); }) == ErrorCode::conflict);
    CHECK(code_of([&] { runtime.thaw(contract_id); }) == ErrorCode::conflict);
    runtime.start(contract_id);
    CHECK_FALSE(runtime.inspect(contract_id)->frozen);
    const auto killed = runtime.exec(contract_id, {{"sleep", "1000"}, {}, false, 80, 24});
    auto left = runtime.exec(contract_id, {{"sleep", "1000"}, {}, false, 80, 24});
    runtime.freeze(contract_id);
    runtime.freeze(contract_id);
    killed->kill(9);
    CHECK(await_exit(*killed) == 128 + 9);
    left.reset();
    runtime.start(contract_id);
    CHECK(runtime.inspect(contract_id)->state == ContainerState::running);
    CHECK(runtime.inspect(contract_id)->frozen);
    CHECK(runtime.list().at(0).frozen);
    CHECK(code_of(echo) == ErrorCode::conflict);
    runtime.thaw(contract_id);
    runtime.thaw(contract_id);
    CHECK_FALSE(runtime.inspect(contract_id)->frozen);
    CHECK(read_to_end(echo()->output()) == "hello\n");
    runtime.freeze(contract_id);
    runtime.stop(contract_id, Duration::zero());
    CHECK(runtime.inspect(contract_id)->state == ContainerState::stopped);
    CHECK_FALSE(runtime.inspect(contract_id)->frozen);
    runtime.start(contract_id);
    CHECK_FALSE(runtime.inspect(contract_id)->frozen);
    runtime.freeze(contract_id);
    runtime.remove(contract_id);
    CHECK_FALSE(runtime.inspect(contract_id).has_value());
    world.layers().remove(contract_layer);
}

// Only of what runs; a limit that was set is told as it was set.
template <class World>
void check_usage(World& world) {
    Runtime& runtime = world.runtime();
    world.layers().add(contract_layer, world.package(), {});
    ContainerSpec spec = contract_spec(world);
    spec.memory_bytes = std::uint64_t{64} << 20U;
    runtime.create(spec);
    CHECK(runtime.usage().empty());
    runtime.start(contract_id);
    const std::vector<ContainerUsage> usages = runtime.usage();
    REQUIRE(usages.size() == 1);
    const ContainerUsage& usage = usages[0];
    CHECK(usage.id == contract_id);
    CHECK(usage.memory_limit_bytes == spec.memory_bytes);
    CHECK(usage.memory_bytes.value_or(0) <= spec.memory_bytes);
    CHECK(usage.disk_limit_bytes == spec.disk_bytes);
    CHECK(usage.processes.value_or(0) > 0);
    CHECK(usage.cpu_user_seconds.value_or(-1) >= 0);
    REQUIRE(usage.network.size() == 1);
    CHECK(usage.network[0].device == "eth0");
    runtime.stop(contract_id, Duration::zero());
    CHECK(runtime.usage().empty());
    runtime.remove(contract_id);
    world.layers().remove(contract_layer);
}

// A stopped instance gives its address back; it starts again with what is free then.
template <class World>
void check_new_specification(World& world) {
    Runtime& runtime = world.runtime();
    world.layers().add(contract_layer, world.package(), {});
    ContainerSpec spec = contract_spec(world);
    runtime.create(spec);
    runtime.start(contract_id);
    runtime.stop(contract_id, Duration::zero());
    spec.address = world.other_address();
    spec.forwards = {{22, 0, 1, true, false, false}};
    spec.forwards[0].node_port = world.free_port();
    runtime.create(spec);
    runtime.start(contract_id);
    CHECK(runtime.inspect(contract_id)->state == ContainerState::running);
    runtime.remove(contract_id);
    world.layers().remove(contract_layer);
}

template <class World>
void check_unknown(World& world) {
    Runtime& runtime = world.runtime();
    CHECK(code_of([&] { runtime.start("unknown"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { runtime.freeze("unknown"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { runtime.thaw("unknown"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { runtime.exec("unknown", {{"true"}, {}, false, 80, 24}); }) == ErrorCode::not_found);
    CHECK_FALSE(runtime.inspect("unknown").has_value());
    CHECK_NOTHROW(runtime.remove("unknown"));
    ContainerSpec spec = contract_spec(world);
    spec.layers = {"no-such-layer"};
    CHECK(code_of([&] {
              runtime.create(spec);
              runtime.start(spec.id);
          }) == ErrorCode::not_found);
    runtime.remove(spec.id);
    CHECK(runtime.list().empty());
}

template <class World>
void check_exec(World& world) {
    Runtime& runtime = world.runtime();
    world.layers().add(contract_layer, world.package(), {});
    runtime.create(contract_spec(world));
    CHECK(code_of([&] { runtime.exec(contract_id, {{"true"}, {}, false, 80, 24}); }).has_value());
    runtime.start(contract_id);
    const auto echo = runtime.exec(contract_id, {{"echo", "hello"}, {}, false, 80, 24});
    CHECK(read_to_end(echo->output()) == "hello\n");
    CHECK(await_exit(*echo) == 0);
    const auto fails = runtime.exec(contract_id, {{"false"}, {}, false, 80, 24});
    CHECK(await_exit(*fails) == 1);
    CHECK_FALSE(fails->exec_failed());
    const auto cat = runtime.exec(contract_id, {{"cat"}, {}, false, 80, 24});
    REQUIRE(write(cat->input(), "text", 4) == 4);
    cat->close_input();
    CHECK(read_to_end(cat->output()) == "text");
    const auto killed = runtime.exec(contract_id, {{"sleep", "1000"}, {}, false, 80, 24});
    killed->kill(9);
    CHECK(await_exit(*killed) == 128 + 9);
    const auto absent = runtime.exec(contract_id, {{"/no/such/command"}, {}, false, 80, 24});
    CHECK(await_exit(*absent) == 127);
    CHECK(absent->exec_failed());
    const auto cut = runtime.exec(contract_id, {{"sleep", "1000"}, {}, false, 80, 24});
    runtime.stop(contract_id, Duration::zero());
    CHECK(await_exit(*cut) == 129);
    runtime.remove(contract_id);
    world.layers().remove(contract_layer);
}

// Only what was not asked for is told.
template <class World>
void check_events(World& world) {
    Runtime& runtime = world.runtime();
    Guarded<std::vector<RuntimeEvent>> told;
    runtime.on_event([&](const RuntimeEvent& event) { told.with([&](auto& all) { all.push_back(event); }); });
    world.layers().add(contract_layer, world.package(), {});
    runtime.create(contract_spec(world));
    runtime.start(contract_id);
    runtime.stop(contract_id, Duration::zero());
    runtime.start(contract_id);
    world.end(contract_id, false);
    const auto events = world.await_events(told, 1);
    CHECK(events.size() == 1);
    CHECK(events[0].id == contract_id);
    CHECK(events[0].kind == RuntimeEvent::Kind::stopped);
    CHECK_FALSE(events[0].clean);
    CHECK_FALSE(events[0].reason.empty());
    CHECK(runtime.inspect(contract_id)->state == ContainerState::stopped);
    runtime.on_event(nullptr);
    runtime.remove(contract_id);
    world.layers().remove(contract_layer);
}

template <class World>
void check_once(World& world) {
    Runtime& runtime = world.runtime();
    Guarded<std::vector<RuntimeEvent>> told;
    runtime.on_event([&](const RuntimeEvent& event) { told.with([&](auto& all) { all.push_back(event); }); });
    world.layers().add(contract_layer, world.package(), {});
    runtime.create(contract_spec(world));
    const auto once = [&](const char* id, const char* program, Duration limit = std::chrono::minutes(1),
                          std::stop_token stop = {}) {
        return runtime.run_once(id, {world.program(program)}, limit, std::move(stop));
    };
    CHECK(once(contract_id, "true") == 0);
    CHECK(once(contract_id, "false") == 1);
    CHECK(runtime.inspect(contract_id)->state != ContainerState::running);
    runtime.start(contract_id);
    CHECK(code_of([&] { once(contract_id, "true"); }) == ErrorCode::busy);
    runtime.stop(contract_id, Duration::zero());
    CHECK(once(contract_id, "true") == 0);
    CHECK(runtime.inspect(contract_id)->state == ContainerState::stopped);
    std::stop_source source;
    source.request_stop();
    CHECK(code_of([&] { once(contract_id, "true", Duration::zero(), source.get_token()); }) ==
          ErrorCode::cancelled);
    CHECK(code_of([&] { once("unknown", "true"); }) == ErrorCode::not_found);
    runtime.start(contract_id);
    CHECK(runtime.inspect(contract_id)->state == ContainerState::running);
    runtime.remove(contract_id);
    CHECK(told.with([](const auto& all) { return all.empty(); }));
    runtime.on_event(nullptr);
    world.layers().remove(contract_layer);
}

template <class World>
void check_capture(World& world) {
    Runtime& runtime = world.runtime();
    LayerStore& layers = world.layers();
    layers.add(contract_layer, world.package(), {});
    ContainerSpec spec = contract_spec(world);
    runtime.create(spec);
    runtime.start(contract_id);
    CHECK(code_of([&] { layers.capture("captured", contract_id, {}); }) == ErrorCode::busy);
    CHECK_FALSE(layers.contains("captured"));
    runtime.stop(contract_id, Duration::zero());
    layers.capture("captured", contract_id, {"/tmp"});
    layers.capture("captured", contract_id, {"/tmp"});
    CHECK(layers.contains("captured"));
    CHECK_NOTHROW(layers.size("captured"));
    CHECK(code_of([&] { layers.capture("other", "unknown", {}); }) == ErrorCode::not_found);
    runtime.start(contract_id);
    runtime.remove(contract_id);
    layers.capture("captured", contract_id, {});
    spec.layers = {contract_layer, "captured"};
    runtime.create(spec);
    runtime.start(contract_id);
    CHECK(code_of([&] { layers.remove("captured"); }) == ErrorCode::busy);
    runtime.remove(contract_id);
    layers.remove("captured");
    layers.remove(contract_layer);
}

template <class World>
void check_snapshot(World& world) {
    Runtime& runtime = world.runtime();
    LayerStore& layers = world.layers();
    layers.add(contract_layer, world.package(), {});
    ContainerSpec spec = contract_spec(world);
    runtime.create(spec);
    runtime.start(contract_id);
    CHECK(code_of([&] { layers.snapshot("kept", contract_id, {}, {}); }) == ErrorCode::busy);
    CHECK_FALSE(layers.contains("kept"));
    runtime.stop(contract_id, Duration::zero());
    layers.snapshot("kept", contract_id, {"/tmp"}, {});
    layers.snapshot("kept", contract_id, {"/tmp"}, {});
    CHECK(layers.contains("kept"));
    CHECK(code_of([&] { layers.snapshot("other", "unknown", {}, {}); }) == ErrorCode::not_found);
    CHECK(code_of([&] { layers.restore("kept", "unknown", {}); }) == ErrorCode::not_found);
    CHECK(code_of([&] { layers.restore("absent", contract_id, {}); }) == ErrorCode::not_found);
    layers.restore("kept", contract_id, {});
    layers.restore("kept", contract_id, {});
    runtime.start(contract_id);
    CHECK(code_of([&] { layers.restore("kept", contract_id, {}); }) == ErrorCode::busy);
    runtime.remove(contract_id);
    layers.snapshot("kept", contract_id, {}, {});
    spec.layers = {contract_layer, "kept"};
    runtime.create(spec);
    runtime.start(contract_id);
    CHECK(code_of([&] { layers.remove("kept"); }) == ErrorCode::busy);
    runtime.remove(contract_id);
    layers.remove("kept");
    layers.remove(contract_layer);
}

inline std::string read_stream(ArchiveStream& stream, std::size_t step) {
    std::string all;
    for (std::string part = stream.read(step); !part.empty(); part = stream.read(step)) {
        CHECK(part.size() <= step);
        all += part;
    }
    CHECK(stream.read(step).empty());
    return all;
}

template <class World>
void check_export(World& world) {
    LayerStore& layers = world.layers();
    layers.add(contract_layer, world.package(), {});
    world.runtime().create(contract_spec(world));
    layers.capture("captured", contract_id, {});
    world.runtime().remove(contract_id);
    const ExportRequest request{{contract_layer, "captured"}, "architecture: x86_64\ncreation_date: 1\n"};
    auto stream = layers.export_archive(request);
    CHECK(code_of([&] { layers.remove("captured"); }) == ErrorCode::busy);
    const std::string format = stream->format();
    CHECK_FALSE(format.empty());
    const std::string bytes = read_stream(*stream, 10'000);
    stream = layers.export_archive(request);
    CHECK(read_stream(*stream, 777'777) == bytes);
    stream = layers.export_archive(request);  // left in the middle
    stream->read(100);
    CHECK(stream->format() == format);
    stream.reset();
    CHECK(code_of([&] { layers.export_archive({{contract_layer, "absent"}, ""}); }) == ErrorCode::not_found);
    write_file_atomically(world.scratch() / "exported", bytes);
    layers.add("imported", world.scratch() / "exported", {});
    CHECK(layers.contains("imported"));
    for (const char* layer : {"imported", "captured", contract_layer}) layers.remove(layer);
    CHECK(layers.list().empty());
}

template <class World>
void check_capacity(World& world) {
    const Capacity capacity = world.runtime().capacity();
    CHECK_FALSE(capacity.runtime.empty());
    CHECK(capacity.cpus > 0);
    CHECK(capacity.memory_bytes > 0);
    CHECK(capacity.disk_bytes > 0);
    CHECK(capacity.subnet.find('/') != std::string::npos);
    CHECK(capacity.forwards_from == capacity.public_address);
    const std::string node = world.runtime().nodes().front().name;
    const auto now = [&] { return world.runtime().nodes().front().capacity.forwards_from; };
    for (const std::string& address : {std::string("203.0.113.7"), std::string("gateway.example"),
                                       capacity.public_address, capacity.public_address}) {
        world.runtime().forward_from(node, address);
        CHECK(now() == address);
    }
}

template <class World>
void check_runtime(World& world) {
    SECTION("layers are added whole, once, and removed") {
        check_layers(world);
    }
    SECTION("every call of a container's life can be repeated") {
        check_life(world);
    }
    SECTION("a running container is frozen and thawed") {
        check_freeze(world);
    }
    SECTION("what runs tells what it uses") {
        check_usage(world);
    }
    SECTION("a stopped container takes over a new specification") {
        check_new_specification(world);
    }
    SECTION("what is unknown is not found, removing it is fine") {
        check_unknown(world);
    }
    SECTION("commands have streams and an exit code") {
        check_exec(world);
    }
    SECTION("an end that was not asked for is told once") {
        check_events(world);
    }
    SECTION("a command runs alone in a stopped container") {
        check_once(world);
    }
    SECTION("what a container changed becomes a layer") {
        check_capture(world);
    }
    SECTION("a container's disk is copied to a layer and back") {
        check_snapshot(world);
    }
    SECTION("layers are exported as one archive that is an image again") {
        check_export(world);
    }
    SECTION("the capacity is that of a machine") {
        check_capacity(world);
    }
}

}  // namespace svc::test
