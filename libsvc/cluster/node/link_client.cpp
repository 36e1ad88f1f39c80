#include "libsvc/cluster/node/link_client.h"

#include <sys/socket.h>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/cluster/node/parts.h"
#include "libsvc/cluster/node_api.h"
#include "libsvc/cluster/term_guard.h"

namespace svc::node {

namespace {

constexpr int tries = 3;
constexpr std::chrono::milliseconds connect_patience{3000};

Headers headers_of(std::uint64_t term) {
    Headers headers;
    headers.add(std::string(term_header), std::to_string(term));
    return headers;
}

}  // namespace

LinkClient::LinkClient(Target target, std::string name, std::function<std::uint64_t()> term,
                       LinkListener listener, LinkTimes times)
    : target_(std::move(target)),
      name_(std::move(name)),
      term_(std::move(term)),
      listener_(std::move(listener)),
      times_(times),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

LinkClient::~LinkClient() {
    stopping_.request_stop();
    thread_.request_stop();
    {
        Lock lock(mutex_);
        if (socket_) ::shutdown(socket_->descriptor(), SHUT_RDWR);
    }
    changed_.notify_all();
    thread_.join();
    listeners_.stop();
}

bool LinkClient::connected() const {
    Lock lock(mutex_);
    return socket_ != nullptr;
}

std::string LinkClient::fault() const {
    Lock lock(mutex_);
    return socket_ ? "" : fault_;
}

// Called with the lock held.
Error LinkClient::offline() const {
    if (outdated_ != 0) return {ErrorCode::conflict, fault_};
    return {ErrorCode::unavailable, "node " + name_ + " is offline"};
}

void LinkClient::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        try {
            auto socket = std::make_shared<WebSocketClient>(target_, std::string(node_path) + "link",
                                                            headers_of(term_()), connect_patience);
            follow(socket, stop);
            lose("its manager has closed the connection");
        } catch (const Error& e) {
            lose(e.what(), e.code() == ErrorCode::conflict ? term_of_refusal(e.what()) : 0);
        } catch (const std::exception& e) {
            lose(e.what());
        }
        Lock lock(mutex_);
        changed_.wait_for(lock, times_.pause, [&] { return stop.stop_requested(); });
    }
}

// Until the connection ends or the node is silent.
void LinkClient::follow(const std::shared_ptr<WebSocketClient>& socket, const std::stop_token& stop) {
    const auto between = times_.silence / 3;
    PartReader reader;
    auto heard = Steady::now(), asked = Steady::now();
    while (!stop.stop_requested()) {
        const auto message = socket->receive(between);
        const auto now = Steady::now();
        if (message && message->kind == WebSocketMessage::Kind::closed)
            throw Error(ErrorCode::unavailable, message->data.empty() ? "connection ended" : message->data);
        if (message) heard = now;
        if (now - heard > times_.silence) throw Error(ErrorCode::unavailable, "node is silent");
        if (now - asked >= between) {
            asked = now;
            send(*socket, Json::object({{"ping", true}}));
        }
        const auto whole = message ? reader.take(message->data) : std::nullopt;
        if (!whole) continue;
        const Json json = Json::parse(*whole);
        if (json.find("ready") == nullptr) {
            take(json);
            continue;
        }
        {
            Lock lock(mutex_);
            socket_ = socket;
            if (stop.stop_requested()) return;
        }
        changed_.notify_all();
        if (listener_.connected) (void)listeners_.post([this] { listener_.connected(); });
    }
}

void LinkClient::take(const Json& message) {
    const JsonFields fields(message);
    if (const Json* event = fields.raw("event")) {
        if (listener_.event)
            (void)listeners_.post([this, told = event_from_json(*event)] { listener_.event(told); });
        return;
    }
    if (const auto number = fields.integer("progress")) return report(*number, message);
    const auto number = fields.integer("reply");
    if (!number) return;
    Lock lock(mutex_);
    if (const auto found = pending_.find(*number); found != pending_.end()) found->second.reply = message;
    changed_.notify_all();
}

// Under the lock: the call that waits cannot end meanwhile.
void LinkClient::report(std::int64_t number, const Json& message) {
    const JsonFields fields(message);
    Lock lock(mutex_);
    const auto found = pending_.find(number);
    if (found == pending_.end() || !found->second.call->progress) return;
    found->second.call->progress(static_cast<std::uint64_t>(fields.require_int("bytes")),
                                 static_cast<std::uint64_t>(fields.require_int("total")));
}

void LinkClient::lose(const std::string& why, std::uint64_t newer_term) {
    bool news = false, refused = false;
    {
        Lock lock(mutex_);
        news = socket_ != nullptr || fault_.empty();
        if (socket_) lost_at_ = Steady::now();
        socket_.reset();
        fault_ = why;
        refused = newer_term != 0 && newer_term != outdated_;
        outdated_ = newer_term;
        for (auto& [number, pending] : pending_) pending.lost = true;
    }
    changed_.notify_all();
    if (stopping_.stop_requested()) return;
    if (refused && listener_.outdated)
        (void)listeners_.post([this, newer_term] { listener_.outdated(newer_term); });
    if (!news) return;
    log::debug("node is lost", {{"node", name_}, {"reason", why}});
    if (listener_.lost) (void)listeners_.post([this, why] { listener_.lost(why); });
}

// Waits for a connection that was lost a short time ago.
std::shared_ptr<WebSocketClient> LinkClient::await_socket(Lock& lock, Steady::time_point deadline) {
    const auto until = std::min(deadline, lost_at_ + times_.patience);
    changed_.wait_until(lock, until,
                        [&] { return socket_ != nullptr || outdated_ != 0 || stopping_.stop_requested(); });
    if (!socket_) throw offline();
    return socket_;
}

void LinkClient::send(WebSocketClient& socket, const Json& message) {
    const std::string text = message.dump();
    std::lock_guard lock(send_mutex_);
    send_in_parts(text, [&](const std::string& part) { socket.send_binary(part); });
}

Json LinkClient::call(const LinkCall& call) {
    const auto deadline = call.limit ? Steady::now() + *call.limit : Steady::time_point::max();
    for (int i = 0; i < tries; ++i) {
        const auto reply = attempt(call, deadline);
        if (!reply) continue;
        if (const Json* failed = reply->find("failed")) throw error_from_json(*failed);
        const Json* const result = reply->find("result");
        return result == nullptr ? Json() : *result;
    }
    const Lock lock(mutex_);
    throw offline();
}

// Nothing: the connection was lost before the answer.
std::optional<Json> LinkClient::attempt(const LinkCall& call, Steady::time_point deadline) {
    Lock lock(mutex_);
    const auto socket = await_socket(lock, deadline);
    const std::int64_t number = ++last_number_;
    Pending& pending = pending_[number];
    pending.call = &call;
    lock.unlock();
    bool sent = true;
    try {
        Json message = Json::object({{"call", number}, {"name", call.name}, {"arguments", call.arguments}});
        if (call.stop.stop_requested())
            message.set("cancelled", true);  // a later message might come too late
        send(*socket, message);
    } catch (const Error&) {
        sent = false;
        ::shutdown(socket->descriptor(), SHUT_RDWR);  // its thread notices, and connects anew
    }
    {
        const std::stop_callback cancelled(call.stop, [&] {
            try {
                send(*socket, Json::object({{"cancel", number}}));
            } catch (const Error&) {
                return;  // the connection has ended, and the call with it
            }
        });
        lock.lock();
        const bool in_time =
            changed_.wait_until(lock, deadline, [&] { return pending.lost || pending.reply; });
        lock.unlock();
        if (!in_time && sent) {
            lock.lock();
            pending_.erase(number);
            throw Error(ErrorCode::unavailable, "node " + name_ + " does not answer");
        }
    }
    lock.lock();
    const auto reply = std::move(pending.reply);
    pending_.erase(number);
    return reply;
}

}  // namespace svc::node
