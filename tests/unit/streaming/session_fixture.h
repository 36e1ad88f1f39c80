#pragma once
// A gateway without a network: real sessions, regions and relay, over a played management service and a clock
// turned by hand.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/store/sqlite/sqlite_store.h"
#include "libsvc/streaming/stream_gateway.h"
#include "tests/support/error_code.h"
#include "tests/support/failing_store.h"
#include "tests/support/fake_management.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"

namespace svc::test {

// For what comes true on another thread. Long: where nothing is wrong, nobody waits for its end.
inline constexpr std::chrono::seconds patience{60};

// A socket without a connection. Thread-safe.
class QuietSocket final : public WebSocket {
  public:
    bool send_text(std::string message) override {
        const std::lock_guard lock(mutex_);
        sent_.push_back(std::move(message));
        return !closed_;
    }
    bool send_binary(std::string message) override { return send_text(std::move(message)); }
    void ask_for_turn() override {}
    std::size_t queued_bytes() const override { return 0; }
    void close(CloseCode, std::string_view) override { abort(); }
    void abort() override {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    void pause_reading() override {}
    void resume_reading() override {}

    bool is_closed() const {
        const std::lock_guard lock(mutex_);
        return closed_;
    }
    bool was_sent(const std::string& text) const {
        const std::lock_guard lock(mutex_);
        for (const std::string& message : sent_)
            if (message.find(text) != std::string::npos) return true;
        return false;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> sent_;
    bool closed_ = false;
};

// An instance or a client. Hangs up at its end.
class StreamPeer {
  public:
    explicit StreamPeer(std::shared_ptr<WebSocketHandler> handler) : handler_(std::move(handler)) {
        handler_->on_open(socket);
    }
    StreamPeer(StreamPeer&&) = default;
    ~StreamPeer() { hang_up(); }
    void say(std::string text) { handler_->on_message(false, std::move(text)); }
    void stream(bool active) {
        say(std::string(R"({"type":"ctl:stream","active":)") + (active ? "true}" : "false}"));
    }
    void hang_up() {
        if (handler_) std::exchange(handler_, nullptr)->on_close(1005, "");
    }
    std::shared_ptr<QuietSocket> socket = std::make_shared<QuietSocket>();

  private:
    std::shared_ptr<WebSocketHandler> handler_;
};

// Whoever passes waits until it is opened; at its end at the latest. Made after the gateway, whose end would
// wait for those who wait here.
class Gate {
  public:
    ~Gate() { open(); }
    void open() {
        const std::lock_guard lock(state_->mutex);
        state_->is_open = true;
        state_->changed.notify_all();
    }
    // So many have come as far as here.
    void await(int count = 1) const {
        std::unique_lock lock(state_->mutex);
        REQUIRE(state_->changed.wait_for(lock, patience, [&] { return state_->waiting >= count; }));
    }

  protected:
    Gate() = default;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    auto hook() const {
        return [state = state_](const auto&...) { state->pass(); };
    }

  private:
    // Outlives the gate: threads are still in it.
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        int waiting = 0;
        bool is_open = false;
        void pass() {
            std::unique_lock lock(mutex);
            ++waiting;
            changed.notify_all();
            changed.wait(lock, [this] { return is_open; });
        }
    };
    const std::shared_ptr<State> state_ = std::make_shared<State>();
};

struct LaunchGate : Gate {
    explicit LaunchGate(FakeManagement& management) { management.on_launch(hook()); }
};

struct RemovalGate : Gate {
    explicit RemovalGate(FakeManagement& management) { management.on_remove(hook()); }
};

// The store, the clock and the regions that all gateways of a test share.
struct SessionWorld {
    ManualClock clock;
    SequenceIds ids;
    SqliteStore sqlite{":memory:"};
    FailingStore store{sqlite};
    FakeManagement management, other;
    const std::string token_secret = std::string(64, 's');
    TokenMint mint{token_secret};  // makes the same tokens as every gateway
    // Sessions are created without an account.
    SessionServiceConfig config{
        {}, "wss://gateway:4000", std::string(64, 'f'), "", "", {}, [](const SessionOwner&) { return true; }};

    // Until `test` holds; gives up in the end.
    bool eventually(const std::function<bool()>& test) {
        const auto end = std::chrono::steady_clock::now() + patience;
        std::unique_lock lock(mutex_);
        while (!test()) {
            if (std::chrono::steady_clock::now() > end) return false;
            changed_.wait_for(lock, std::chrono::milliseconds(10));  // woken by each commit
        }
        return true;
    }
    // Nothing ends because much time passes: for tests that let it pass until something is done.
    void take_time() {
        SessionLimits& limits = config.limits;
        limits.launch = limits.client_token = limits.idle = std::chrono::hours(24 * 365);
    }
    // As it is stored; nothing: it is gone.
    std::optional<StreamSession> stored(const std::string& id) {
        const auto entry = sqlite.get("stream-sessions/" + id);
        return entry ? std::optional(session_from_store(Json::parse(entry->value))) : std::nullopt;
    }
    void put(const StreamSession& session) { Collection<StreamSession>(sqlite).create(session); }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<Subscription> watch_ =
        sqlite.watch("stream-sessions/", [this](const auto&) { changed_.notify_all(); });
};

// One gateway; its end is a stop of its process.
class Gateway {
  public:
    explicit Gateway(SessionWorld& world, bool with_other_region = false)
        : world_(world),
          askers_(with_other_region ? 2 : 1),
          services_(options(world, with_other_region), seams(world)) {
        services_.start();
        REQUIRE(world.eventually([&] { return regions.counts().active == askers_; }));
    }

    SessionCreate request(std::string_view more = "") const {
        return SessionCreate::from_json(Json::parse(R"({"app":"app")" + std::string(more) + "}"));
    }
    std::string create(std::string_view more = "") { return service.create("me", request(more)).session.id; }
    SessionStatus status(const std::string& id) { return service.get("", id).status; }
    std::string message(const std::string& id) { return service.get("", id).status_message; }
    bool await(const std::string& id, SessionStatus status) {
        return world_.eventually([&] { return exists(id) && this->status(id) == status; });
    }
    bool await_gone(const std::string& id) {
        return world_.eventually([&] { return !exists(id) && !world_.stored(id); });
    }
    bool exists(const std::string& id) {
        return code_of([&] { service.get("", id); }) != ErrorCode::not_found;
    }
    // Its instance's id, as soon as it has one.
    std::string instance(const std::string& id) {
        REQUIRE(world_.eventually([&] { return exists(id) && !service.get("", id).container_id.empty(); }));
        return service.get("", id).container_id;
    }

    StreamPeer connect_instance(const std::string& id) {
        const std::string token = world_.mint.socket_token({id, SocketRole::master, ""}, std::nullopt);
        StreamPeer peer(service.socket(id, SocketRole::master, token));
        peer.say(R"({"type":"ctl:register","session_id":")" + id + R"(","version":"1","codecs":["VP8"]})");
        return peer;
    }
    StreamPeer connect_client(const SessionGrant& grant) {
        const std::string token = grant.path.substr(grant.path.find("token=") + 6);
        return StreamPeer(service.socket(grant.session.id, SocketRole::slave, token));
    }
    // A session whose instance has registered.
    std::pair<SessionGrant, std::unique_ptr<StreamPeer>> active(std::string_view more = "") {
        SessionGrant grant = service.create("me", request(more));
        instance(grant.session.id);
        auto peer = std::make_unique<StreamPeer>(connect_instance(grant.session.id));
        REQUIRE(await(grant.session.id, SessionStatus::active));
        return {grant, std::move(peer)};
    }
    bool await_watched(const std::string& id, bool watched) {
        return world_.eventually([&] { return service.get("", id).client_connected == watched; });
    }
    // The region has noticed how late it is.
    void advance(Duration time) {
        world_.clock.advance(time);
        REQUIRE(world_.eventually([&] { return regions.answers("north"); }));
    }
    void pass(Duration time) {
        advance(time);
        service.tick();
    }
    // So little that regions are asked in time, however slow the machine is: they answer all the while.
    void pass_a_second() {
        world_.clock.await_waiters(askers_);
        world_.clock.advance(std::chrono::seconds(1));
        service.tick();
    }
    // The session is so until the last second of that time.
    void pass_as(SessionStatus status, const std::string& id, Duration time) {
        pass(time - std::chrono::seconds(1));
        REQUIRE(this->status(id) == status);
        pass(std::chrono::seconds(1));
    }

  private:
    static StreamGatewayOptions options(const SessionWorld& world, bool with_other_region) {
        StreamGatewayOptions options;
        options.token_secret = world.token_secret;
        options.tick_interval = Duration::zero();
        options.regions.resize(with_other_region ? 2 : 1);
        options.regions.front().name = "north";
        options.regions.back().name = with_other_region ? "south" : "north";
        return options;
    }
    static StreamGatewaySeams seams(SessionWorld& world) {
        const auto connect = [&world](const RegionConfig& region) {
            return (region.name == "north" ? world.management : world.other).connect();
        };
        return {world.store, world.clock, world.ids, connect};
    }
    SessionService& opened() {
        services_.open(world_.config);
        return services_.sessions();
    }

    SessionWorld& world_;
    const int askers_;  // threads that ask regions, and wait in between
    StreamGateway services_;

  public:
    Relay& relay = services_.relay();
    Regions& regions = services_.regions();
    SessionService& service = opened();
};

}  // namespace svc::test
