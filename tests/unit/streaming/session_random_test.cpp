// What must hold whatever happens to sessions, in whatever order: events drawn by lot, from seeds that stay.
#include <atomic>
#include <random>

#include "tests/unit/streaming/session_fixture.h"
#include "tests/unit/streaming/session_watcher.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

namespace {

enum class LaunchMode { well, refused, unanswered, heard };

// A gateway with sessions in any state, an unreliable region, an unreliable store. Each step is one event.
class Lottery {
  public:
    explicit Lottery(unsigned seed) : random_(seed) {
        log::set_level(log::Level::error);
        world_.management.on_launch([this](const StreamLaunch& launch) { on_launch(launch); });
        gateway_.emplace(world_);
    }
    ~Lottery() {
        forget_peers();
        gateway_.reset();
        log::set_level(log::Level::info);
    }

    void step() {
        using Event = void (Lottery::*)();
        static constexpr std::array<std::pair<const char*, Event>, 18> events{
            {{"create", &Lottery::create},
             {"create", &Lottery::create},
             {"register", &Lottery::register_instance},
             {"register", &Lottery::register_instance},
             {"register", &Lottery::register_instance},
             {"instance leaves", &Lottery::instance_leaves},
             {"instance reports", &Lottery::instance_reports},
             {"stream", &Lottery::stream},
             {"client joins", &Lottery::client_joins},
             {"client leaves", &Lottery::client_leaves},
             {"instance moves", &Lottery::instance_moves},
             {"instance vanishes", &Lottery::instance_vanishes},
             {"remove", &Lottery::remove},
             {"launches go otherwise", &Lottery::change_launches},
             {"region comes or goes", &Lottery::change_region},
             {"commit fails", &Lottery::fail_commit},
             {"time", &Lottery::pass_time},
             {"restart", &Lottery::restart}}};
        const auto& [name, event] = events[draw(events.size())];
        history_ += std::string(history_.empty() ? "" : ", ") + name;
        try {
            (this->*event)();
        } catch (const Error& e) {
            history_ += std::string(" (") + e.what() + ")";  // refusals are answers
        }
    }
    // All is well again, everybody leaves, all is deleted.
    bool end() {
        mode_ = LaunchMode::well;
        world_.management.set_answers(true);
        forget_peers();
        return world_.eventually([&] {
            for (const StreamSession& session : sessions())
                if (!session.removal_due) try_remove(session.id);
            world_.clock.await_waiters(1);  // who asks the region: it answers all the while
            world_.clock.advance(10s);
            gateway_->service.tick();
            return sessions().empty() && records() == 0 && instances() == 0;
        });
    }
    const std::string& history() const { return history_; }
    SessionWatcher& watcher() { return watcher_; }
    std::size_t instances() const { return world_.management.instances(); }
    std::vector<StreamSession> sessions() { return gateway_->service.list("", {}).sessions; }
    std::size_t records() { return world_.sqlite.list("stream-sessions/").size(); }

  private:
    struct Peers {
        std::optional<StreamPeer> instance, client;
        std::optional<SessionGrant> grant;
    };

    std::size_t draw(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
    }
    bool toss() { return draw(2) == 0; }
    std::string any_session() {
        const auto all = sessions();
        return all.empty() ? throw Error(ErrorCode::not_found, "there is none") : all[draw(all.size())].id;
    }
    std::string any_instance() {
        const auto all = sessions();
        const std::string id = all.empty() ? "" : all[draw(all.size())].container_id;
        return id.empty() ? throw Error(ErrorCode::not_found, "it has none") : id;
    }

    // In threads of the gateway.
    void on_launch(const StreamLaunch& launch) {
        if (const std::string other = world_.management.instance_of(launch.session); !other.empty())
            watcher_.complain(launch.session + ": launched although there is " + other);
        const LaunchMode mode = mode_;
        if (mode == LaunchMode::refused) throw Error(ErrorCode::exhausted, "no node has room");
        if (mode == LaunchMode::heard)
            world_.management.add({"heard-" + std::to_string(++heard_), launch.session, "created", ""});
        if (mode != LaunchMode::well) throw Error(ErrorCode::unavailable, "connection lost");
    }

    void create() {
        const std::string more = std::string(R"(,"joinable":)") + (toss() ? "true" : "false") +
                                 R"(,"ephemeral":)" + (toss() ? "true" : "false") + R"(,"idle_time_min":)" +
                                 std::to_string(draw(3));
        const SessionGrant grant = gateway_->service.create("me", gateway_->request(more));
        peers_[grant.session.id].grant = grant;
        if (mode_ == LaunchMode::well && answers_ && toss())
            world_.eventually([&] {
                const auto stored = world_.stored(grant.session.id);
                return !stored || stored->status != created || !stored->container_id.empty() || failing_;
            });
    }
    void register_instance() {
        const std::string id = any_session();
        auto& instance = peers_[id].instance;
        instance.reset();
        instance.emplace(gateway_->connect_instance(id));
        if (toss() && !failing_)
            world_.eventually([&] {
                const auto stored = world_.stored(id);
                return !stored || stored->status != created;
            });
    }
    StreamPeer& instance_of(const std::string& id) {
        auto& instance = peers_[id].instance;
        if (!instance) throw Error(ErrorCode::not_found, "it is not connected");
        return *instance;
    }
    void instance_leaves() { peers_[any_session()].instance.reset(); }
    void instance_reports() {
        instance_of(any_session())
            .say(toss() ? R"({"type":"ctl:status","status":"running"})"
                        : R"({"type":"ctl:status","status":"error","message":"no encoder"})");
    }
    void stream() { instance_of(any_session()).stream(toss()); }
    void client_joins() {
        const std::string id = any_session();
        Peers& peers = peers_[id];
        if (toss()) peers.grant = gateway_->service.join("me", id, {});
        if (!peers.grant) return;
        peers.client.reset();
        peers.client.emplace(gateway_->connect_client(*peers.grant));
    }
    void client_leaves() { peers_[any_session()].client.reset(); }
    void instance_moves() {
        const std::string id = any_instance();
        static constexpr std::array<std::pair<const char*, const char*>, 4> moves{
            {{"running", ""}, {"stopped", ""}, {"stopped", "exit code 3"}, {"error", "hook failed"}}};
        const auto& [status, message] = moves[draw(moves.size())];
        if (has(id)) world_.management.move(id, status, message);
    }
    void instance_vanishes() {
        if (const std::string id = any_instance(); has(id)) world_.management.vanish(id);
    }
    bool has(const std::string& instance) {
        const auto all = world_.management.connect();
        return answers_ && all->instance(instance).has_value();
    }
    void remove() { gateway_->service.remove("me", any_session(), {.force = draw(4) == 0, .sync = false}); }
    void try_remove(const std::string& id) {
        try {
            gateway_->service.remove("me", id, {});
        } catch (const Error&) {
            return;  // it went meanwhile
        }
    }
    void change_launches() { mode_ = static_cast<LaunchMode>(draw(4)); }
    void change_region() {
        answers_ = !answers_;
        world_.management.set_answers(answers_);
    }
    void fail_commit() { toss() ? world_.store.fail_next() : world_.store.hide_next(), failing_ = true; }
    void pass_time() {
        static constexpr std::array<Duration, 6> times{1s, 6s, 20s, 1min, 3min, 30min};
        world_.clock.advance(times[draw(times.size())]);
        gateway_->service.tick();
    }
    void restart() {
        forget_peers();
        gateway_.reset();
        answers_ = true;
        world_.management.set_answers(true);
        gateway_.emplace(world_);
    }
    void forget_peers() {
        for (auto& [id, peers] : peers_) peers.instance.reset(), peers.client.reset();
    }

    std::mt19937 random_;
    std::string history_;
    SessionWorld world_;
    SessionWatcher watcher_{world_.sqlite};
    std::atomic<LaunchMode> mode_{LaunchMode::well};
    std::atomic<int> heard_{0};
    bool answers_ = true;
    bool failing_ = false;  // some commit may not have been made
    std::map<std::string, Peers> peers_;
    std::optional<Gateway> gateway_;
};

}  // namespace

TEST_CASE("whatever happens to sessions, in whatever order, the rules hold and nothing is left") {
    const unsigned seed = GENERATE(range(1U, 41U));
    Lottery lottery(seed);
    for (int i = 0; i < 60; ++i) lottery.step();
    INFO("seed " << seed << ": " << lottery.history());
    const bool all_gone = lottery.end();
    for (const StreamSession& session : lottery.sessions())
        UNSCOPED_INFO(session.id << " " << to_text(session.status) << " " << session.status_message << " of "
                                 << session.container_id);
    CHECK(all_gone);
    CHECK(lottery.instances() == 0);
    CHECK(lottery.records() == 0);
    CHECK(lottery.watcher().faults() == std::vector<std::string>{});
}
