#include "tests/bench/load/http_load.h"

#include <memory>
#include <vector>

#include "tests/bench/load/poller.h"
#include "tests/bench/load/reply_reader.h"

namespace svc::bench {

namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr unsigned handshakes_at_once = 64;
constexpr auto connect_patience = 30s;

struct Client {
    explicit Client(const Endpoint& endpoint) : stream(endpoint) {}
    Stream stream;
    ReplyReader reader;
    bool ready = false, dead = false, served = false, waiting = false;
    bool settled = false;    // has had its first reply, or was lost
    std::size_t unsent = 0;  // of the request
    Steady::time_point sent_at;
};

class Load {
  public:
    Load(const Endpoint& endpoint, const LoadPlan& plan)
        : endpoint_(endpoint),
          plan_(plan),
          request_("GET " + plan.path + " HTTP/1.1\r\nHost: svc\r\n\r\n"),
          buffer_(256U << 10) {}

    LoadResult run() {
        connect_all();
        const auto begin = Steady::now();
        end_ = begin + plan_.duration;
        for (const auto& client : clients_)
            if (client->settled && !client->dead) begin_request(*client);
        while (Steady::now() < end_) poller_.wait(10ms, [this](Client& client) { serve(client); });
        result_.seconds = std::chrono::duration<double>(Steady::now() - begin).count();
        for (const auto& client : clients_) result_.served += client->served ? 1 : 0;
        return std::move(result_);
    }

  private:
    // Each connection's first request is not measured: servers cut those who connect and then say nothing for
    // as long as many others need for their handshakes.
    void connect_all() {
        const auto deadline = Steady::now() + connect_patience;
        while (settled_ < plan_.connections && Steady::now() < deadline) {
            while (clients_.size() < plan_.connections && clients_.size() - settled_ < handshakes_at_once) {
                clients_.push_back(std::make_unique<Client>(endpoint_));
                poller_.add(clients_.back()->stream.fd(), *clients_.back());
                shake(*clients_.back());
            }
            poller_.wait(10ms, [this](Client& client) {
                shake(client);
                serve(client);
            });
        }
    }

    void shake(Client& client) {
        if (client.ready || client.dead) return;
        const Progress progress = client.stream.handshake();
        if (progress == Progress::ended) return lose(client);
        if (progress != Progress::done) return;
        client.ready = true;
        ++result_.connected;
        begin_request(client);
    }

    void lose(Client& client) {
        if (!client.settled) ++settled_;
        client.dead = client.settled = true;
        ++result_.failures;
    }

    void begin_request(Client& client) {
        client.unsent = request_.size();
        client.waiting = true;
        client.sent_at = Steady::now();
        send(client);
    }

    void send(Client& client) {
        while (client.unsent > 0) {
            const Moved moved =
                client.stream.write(request_.data() + request_.size() - client.unsent, client.unsent);
            if (moved.progress == Progress::ended) return lose(client);
            if (moved.progress != Progress::done) return;
            client.unsent -= moved.bytes;
        }
    }

    void serve(Client& client) {
        if (client.dead || !client.ready) return;
        if (client.unsent > 0) send(client);
        while (!client.dead) {
            const Moved moved = client.stream.read(buffer_.data(), buffer_.size());
            if (moved.progress == Progress::ended) return lose(client);
            if (moved.progress != Progress::done) return;
            take(client, std::string_view(buffer_.data(), moved.bytes));
        }
    }

    void take(Client& client, std::string_view data) {
        while (!data.empty() && client.waiting)
            if (client.reader.feed(data)) finish(client);
    }

    void finish(Client& client) {
        const auto now = Steady::now();
        client.waiting = false;
        if (!client.settled) {
            client.settled = true;
            ++settled_;
            return;
        }
        client.served = true;
        if (client.reader.status() == 200) {
            ++result_.requests;
            result_.latencies.add(now - client.sent_at);
        } else {
            ++result_.failures;
        }
        if (now < end_) begin_request(client);
    }

    const Endpoint& endpoint_;
    const LoadPlan plan_;
    const std::string request_;
    std::vector<char> buffer_;
    Poller<Client> poller_;
    std::vector<std::unique_ptr<Client>> clients_;
    unsigned settled_ = 0;
    Steady::time_point end_;
    LoadResult result_;
};

}  // namespace

LoadResult run_load(const Endpoint& endpoint, const LoadPlan& plan) {
    return Load(endpoint, plan).run();
}

}  // namespace svc::bench
