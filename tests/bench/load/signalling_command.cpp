// svc-bench signalling: an instance and a client in each of many sessions; how long a message takes from one
// to the other through the relay, at a given rate, and how long one takes to an echo and back over as many
// connections at the same rate: in turns, so that what else the machine does meets both alike. The processor
// time that a message takes does not tell of others at all.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <sstream>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "tests/bench/load/commands.h"
#include "tests/bench/load/latencies.h"
#include "tests/bench/load/poller.h"
#include "tests/bench/load/process_memory.h"
#include "tests/bench/load/process_time.h"
#include "tests/bench/load/subscriber.h"

namespace svc::bench {

namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t opened_at_once = 64;
constexpr auto patience_to_open = 60s;
constexpr auto patience_to_arrive = 10s;
constexpr auto turn_time = 1s;
constexpr std::string_view sent_at = "\"sent_at\":";

struct Paths {
    std::string master, slave, session;
};

std::vector<Paths> read_paths(const std::string& file) {
    std::ifstream in(file);
    std::vector<Paths> all;
    for (Paths one; in >> one.master >> one.slave >> one.session;) all.push_back(one);
    if (all.empty()) throw Error(ErrorCode::invalid_argument, "there are no sessions in " + file);
    return all;
}

class Peer {
  public:
    Peer(const Endpoint& endpoint, const std::string& path) : socket(endpoint, path) {}
    Subscriber socket;
    std::string client;  // of an instance: whom it was told of
};

// Every connection of the driver, on one thread.
class Crowd {
  public:
    Peer& open(const Endpoint& endpoint, const std::string& path) {
        peers_.push_back(std::make_unique<Peer>(endpoint, path));
        Peer& peer = *peers_.back();
        poller_.add(peer.socket.fd(), peer);
        advance(peer);
        return peer;
    }
    void poll(std::chrono::milliseconds patience) {
        poller_.wait(patience, [this](Peer& peer) { advance(peer); });
    }
    void await_open() {
        const auto deadline = Steady::now() + patience_to_open;
        const auto is = [this](Subscriber::State state) {
            return static_cast<std::size_t>(std::count_if(
                peers_.begin(), peers_.end(), [&](const auto& one) { return one->socket.state() == state; }));
        };
        while (is(Subscriber::State::open) < peers_.size()) {
            if (Steady::now() > deadline || is(Subscriber::State::ended) > 0)
                throw Error(ErrorCode::unavailable, "only " + std::to_string(is(Subscriber::State::open)) +
                                                        " of " + std::to_string(peers_.size()) +
                                                        " connections were served");
            poll(10ms);
        }
    }
    std::uint64_t joined() const { return joined_; }
    // Of what arrives from now on.
    void count_into(Latencies& latencies) { latencies_ = &latencies; }

  private:
    void advance(Peer& peer) {
        peer.socket.advance(scratch_, [&](Subscriber&, std::string_view text) { take(peer, text); });
    }
    void take(Peer& peer, std::string_view text) {
        const auto at = text.find(sent_at);
        if (at != std::string_view::npos) {
            std::int64_t sent = 0;
            const std::string_view number = text.substr(at + sent_at.size(), 20);
            std::from_chars(number.data(), number.data() + number.size(), sent);
            return latencies_->add(Steady::now().time_since_epoch() - std::chrono::nanoseconds(sent));
        }
        if (text.find("ctl:client-joined") != std::string_view::npos) {
            peer.client = Json::parse(text).at("client_id").as_string();
            ++joined_;
        }
        if (text.find("ctl:ping") != std::string_view::npos) peer.socket.say(R"({"type":"ctl:pong"})");
    }

    std::string scratch_ = std::string(256U << 10, '\0');
    Poller<Peer> poller_;
    std::vector<std::unique_ptr<Peer>> peers_;
    Latencies* latencies_ = nullptr;
    std::uint64_t joined_ = 0;
};

// One of the two that are compared.
struct SignallingSide {
    std::string pid;
    std::uint64_t sent = 0;
    double seconds = 0;
    double processor_seconds = 0;  // of its process
    Latencies latencies;
};

Json describe(const SignallingSide& side) {
    const auto& latencies = side.latencies;
    return Json::object({{"per_second", static_cast<double>(side.sent) / side.seconds},
                         {"lost", side.sent - latencies.count()},
                         {"p50_ms", latencies.milliseconds(0.5)},
                         {"p99_ms", latencies.milliseconds(0.99)},
                         {"max_ms", latencies.max_milliseconds()},
                         {"processor_us", side.processor_seconds * 1e6 / static_cast<double>(side.sent)}});
}

class SignallingRun {
  public:
    explicit SignallingRun(const Arguments& arguments)
        : endpoint_(arguments.text("target"), "", ""),
          echo_endpoint_(arguments.text("echo"), "", ""),
          paths_(read_paths(arguments.text("paths"))),
          interval_(std::chrono::nanoseconds(1s) / std::max(1U, arguments.number("rate", 2000))),
          turns_(arguments.number("seconds", 5)),
          filler_(arguments.number("bytes", 300), 'x') {
        relay_.pid = arguments.text("pid");
        echo_.pid = arguments.text("echo-pid");
        crowd_.count_into(relay_.latencies);
    }

    Json run() {
        open(0, 1);  // what the first connection costs is not each one's
        const auto rss = memory_of(relay_.pid, "Rss"), pss = memory_of(relay_.pid, "Pss");
        const auto begin = Steady::now();
        open(1, paths_.size());
        const double others = static_cast<double>(std::max<std::size_t>(paths_.size() - 1, 1));
        Json report = Json::object({{"sessions", paths_.size()}});
        report.set("opened_per_second",
                   others / std::chrono::duration<double>(Steady::now() - begin).count());
        report.set("rss_kib_each", static_cast<double>(memory_of(relay_.pid, "Rss") - rss) / others);
        report.set("pss_kib_each", static_cast<double>(memory_of(relay_.pid, "Pss") - pss) / others);
        open_echoes();
        for (unsigned turn = 0; turn < turns_; ++turn) {
            take_turn(echo_, [this] { say_to_echo(); });
            take_turn(relay_, [this] { say_in_next_session(); });
        }
        report.set("echo", describe(echo_));
        report.set("relay", describe(relay_));
        return report;
    }

  private:
    void open(std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            masters_.push_back(&crowd_.open(endpoint_, paths_[i].master));
            if (i % opened_at_once == 0) crowd_.await_open();
        }
        crowd_.await_open();
        for (std::size_t i = from; i < to; ++i)
            masters_[i]->socket.say(R"({"type":"ctl:register","session_id":")" + paths_[i].session + "\"}");
        for (std::size_t i = from; i < to; ++i) {
            slaves_.push_back(&crowd_.open(endpoint_, paths_[i].slave));
            if (i % opened_at_once == 0) crowd_.await_open();
        }
        crowd_.await_open();
        const auto deadline = Steady::now() + patience_to_arrive;
        while (crowd_.joined() < to && Steady::now() < deadline) crowd_.poll(10ms);
        if (crowd_.joined() < to) throw Error(ErrorCode::unavailable, "not every client was announced");
    }

    void open_echoes() {
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            echoes_.push_back(&crowd_.open(echo_endpoint_, "/echo"));
            if (i % opened_at_once == 0) crowd_.await_open();
        }
        crowd_.await_open();
    }

    // Sends at the rate for a while; then all must have arrived.
    template <class Say>
    void take_turn(SignallingSide& side, Say&& say) {
        crowd_.count_into(side.latencies);
        const double processor = processor_seconds_of(side.pid);
        std::uint64_t sent = 0;
        const auto begin = Steady::now();
        for (auto now = begin; now < begin + turn_time; now = Steady::now()) {
            while (now >= begin + interval_ * sent) say(), ++sent;
            crowd_.poll(1ms);
        }
        side.seconds += std::chrono::duration<double>(Steady::now() - begin).count();
        side.sent += sent;
        const auto deadline = Steady::now() + patience_to_arrive;
        while (side.latencies.count() < side.sent && Steady::now() < deadline) crowd_.poll(10ms);
        side.processor_seconds += processor_seconds_of(side.pid) - processor;
    }

    std::string message(std::string_view begin) const {
        return std::string(begin) + R"("type":"candidate","candidate":")" + filler_ + "\"," +
               std::string(sent_at) + std::to_string(Steady::now().time_since_epoch() / 1ns) + "}";
    }
    void say_to_echo() { echoes_[echo_turn_++ % echoes_.size()]->socket.say(message("{")); }
    void say_in_next_session() {
        const std::size_t session = turn_ / 2 % paths_.size();
        if (turn_++ % 2 == 0) return slaves_[session]->socket.say(message("{"));
        masters_[session]->socket.say(message(R"({"client_id":")" + masters_[session]->client + "\","));
    }

    const Endpoint endpoint_, echo_endpoint_;
    const std::vector<Paths> paths_;
    const std::chrono::nanoseconds interval_;
    const unsigned turns_;
    const std::string filler_;
    Crowd crowd_;
    std::vector<Peer*> masters_, slaves_, echoes_;
    std::size_t turn_ = 0, echo_turn_ = 0;
    SignallingSide relay_, echo_;
};

}  // namespace

int signalling_command(const Arguments& arguments) {
    const auto run = std::make_unique<SignallingRun>(arguments);
    std::cout << run->run().dump() << std::endl;
    return 0;
}

}  // namespace svc::bench
