// What requests cost must not depend on how many sessions there are. Counted in memory asked for: whoever
// copies, lists or sorts all sessions shows in it; time would only tell how busy the machine is.
#include <cstdlib>
#include <new>

#include "tests/unit/streaming/session_fixture.h"

namespace {

thread_local std::size_t asked_for = 0;  // bytes, by this thread

}  // namespace

void* operator new(std::size_t size) {
    asked_for += size;
    if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    asked_for += size;
    return std::malloc(size > 0 ? size : 1);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace svc::test {

namespace {

constexpr std::size_t many = 5000;
constexpr std::size_t margin = 8 << 10;  // bytes; a pointer to each of many sessions takes five times as much

std::size_t cost(const std::function<void()>& work) {
    const std::size_t before = asked_for;
    work();
    return asked_for - before;
}

// Others than those a test makes itself: they are left alone.
void fill(SessionWorld& world, std::size_t count) {
    Batch batch;
    for (std::size_t i = 0; i < count; ++i) {
        StreamSession session;
        session.id = "aaaaaaaaaaaaaaa" + std::to_string(10'000 + i);
        session.app = "app";
        session.region = "north";
        session.container_id = "other-" + std::to_string(i);
        session.status = SessionStatus::active;
        session.joinable = true;
        batch.put("stream-sessions/" + session.id, session_to_store(session).dump());
        world.management.add({session.container_id, session.id, "running", ""});
    }
    world.sqlite.commit(batch);
}

// Of each request once, by name.
std::map<std::string, std::size_t> costs_among(std::size_t sessions) {
    SessionWorld world;
    fill(world, sessions);
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true)");
    const std::string id = grant.session.id;
    const std::string container = gateway.instance(id);
    const SessionCreate request = gateway.request();
    std::map<std::string, std::size_t> costs;
    costs["create"] = cost([&] { gateway.service.create("me", request); });
    costs["join"] = cost([&] { gateway.service.join("me", id, {}); });
    costs["get"] = cost([&] { gateway.service.get("me", id); });
    costs["instance_changed"] = cost([&] { gateway.service.instance_changed("north", container); });
    costs["counts"] = cost([&] { gateway.service.counts(); });
    costs["connect"] =
        cost([&, &again = instance] { again = std::make_unique<StreamPeer>(gateway.connect_instance(id)); });
    costs["remove"] = cost([&] { gateway.service.remove("me", id, {}); });
    REQUIRE(gateway.await_gone(id));
    return costs;
}

}  // namespace

TEST_CASE("requests cost no more among many sessions") {
    const auto few = costs_among(10);
    for (const auto& [request, bytes] : costs_among(many)) {
        INFO(request);
        CHECK(bytes < few.at(request) + margin);
    }
}

}  // namespace svc::test
