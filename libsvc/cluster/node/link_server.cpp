#include "libsvc/cluster/node/link_server.h"

#include <map>
#include <mutex>
#include <optional>

#include "libsvc/base/log.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/cluster/node/parts.h"

namespace svc::node {

// One connection. The jobs of its calls keep it; the I/O thread tells it what arrives.
class Link final : public WebSocketHandler, public std::enable_shared_from_this<Link> {
  public:
    Link(LinkParts parts, std::uint64_t term) : parts_(parts), term_(term) {}

    void on_open(std::shared_ptr<WebSocket> socket) override;
    void on_message(bool binary, std::string message) override;
    void on_close(std::uint16_t code, std::string_view reason) override;
    void end(CloseCode code, std::string_view reason);
    std::uint64_t term() const { return term_; }

  private:
    void take(const JsonFields& message);
    void begin(const JsonFields& message);
    void run(std::int64_t number, const Call& call, const Json& message, const std::stop_token& stop);
    void cancel(std::int64_t number);
    void cancel_all();
    void finish(std::int64_t number, Json reply);
    void send(const Json& message);

    const LinkParts parts_;
    const std::uint64_t term_;
    PartReader reader_;
    std::mutex mutex_;  // of all below
    std::shared_ptr<WebSocket> socket_;
    std::map<std::int64_t, std::stop_source> calls_;
    std::shared_ptr<void> subscription_;
};

void Link::on_open(std::shared_ptr<WebSocket> socket) {
    {
        std::lock_guard lock(mutex_);
        socket_ = std::move(socket);
        subscription_ = parts_.events.subscribe([weak = weak_from_this()](const RuntimeEvent& event) {
            if (const auto link = weak.lock()) link->send(Json::object({{"event", to_json(event)}}));
        });
    }
    // From here on no event is missed: what is asked after this is newer than all that was not told.
    send(Json::object({{"ready", true}}));
}

void Link::on_message(bool, std::string message) {
    const auto whole = reader_.take(message);
    if (!whole) return;
    const Json json = Json::parse(*whole);
    take(JsonFields(json));
}

void Link::take(const JsonFields& message) {
    if (message.raw("ping") != nullptr) return send(Json::object({{"pong", true}}));
    if (const auto number = message.integer("cancel")) return cancel(*number);
    begin(message);
}

void Link::begin(const JsonFields& message) {
    const std::int64_t number = message.require_int("call");
    const auto found = parts_.calls.find(message.require_string("name"));
    if (found == parts_.calls.end())
        return send(Json::object(
            {{"reply", number},
             {"failed", to_json(Error(ErrorCode::unsupported, "node does not know this call"))}}));
    std::stop_token stop;
    {
        std::lock_guard lock(mutex_);
        std::stop_source& source = calls_[number];
        if (message.boolean("cancelled").value_or(false)) source.request_stop();
        stop = source.get_token();
    }
    const Call& call = found->second;
    ThreadPool& pool = call.reads ? parts_.reads : parts_.changes;
    const bool posted = pool.post([self = shared_from_this(), number, &call, json = message.value(), stop] {
        self->run(number, call, json, stop);
    });
    if (!posted)
        finish(number, Json::object({{"failed", to_json(Error(ErrorCode::exhausted, "node is too busy"))}}));
}

void Link::run(std::int64_t number, const Call& call, const Json& message, const std::stop_token& stop) {
    CallContext context;
    context.stop = stop;
    context.progress = [&](std::uint64_t bytes, std::uint64_t total) {
        send(Json::object({{"progress", number}, {"bytes", bytes}, {"total", total}}));
    };
    try {
        const std::shared_ptr<void> entered = call.reads ? nullptr : parts_.guard.enter(term_);
        if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "call was cancelled");
        const Json* arguments = message.find("arguments");
        const Json none = Json::object();
        finish(number, Json::object({{"result", call.run(JsonFields(arguments == nullptr ? none : *arguments),
                                                         context)}}));
    } catch (const Error& e) {
        finish(number, Json::object({{"failed", to_json(e)}}));
    } catch (const std::exception& e) {
        log::error("call of a leader failed", {{"error", e.what()}});
        finish(number, Json::object({{"failed", to_json(Error(ErrorCode::internal, e.what()))}}));
    }
}

void Link::finish(std::int64_t number, Json reply) {
    {
        std::lock_guard lock(mutex_);
        calls_.erase(number);
    }
    reply.set("reply", number);
    send(reply);
}

void Link::cancel(std::int64_t number) {
    std::stop_source source{std::nostopstate};
    {
        std::lock_guard lock(mutex_);
        if (const auto found = calls_.find(number); found != calls_.end()) source = found->second;
    }
    if (source.stop_possible()) source.request_stop();
}

void Link::cancel_all() {
    std::map<std::int64_t, std::stop_source> calls;
    {
        std::lock_guard lock(mutex_);
        calls = calls_;
    }
    for (auto& [number, source] : calls) source.request_stop();
}

// Parts of one message stay together, as the lock is held for all of them.
void Link::send(const Json& message) {
    const std::string text = message.dump();
    std::lock_guard lock(mutex_);
    if (socket_) send_in_parts(text, [&](std::string part) { socket_->send_binary(std::move(part)); });
}

void Link::end(CloseCode code, std::string_view reason) {
    std::shared_ptr<WebSocket> socket;
    {
        std::lock_guard lock(mutex_);
        socket = socket_;
    }
    if (socket) socket->close(code, reason);
    cancel_all();
}

void Link::on_close(std::uint16_t, std::string_view) {
    {
        std::lock_guard lock(mutex_);
        socket_.reset();
        subscription_.reset();
    }
    cancel_all();
}

LinkServer::LinkServer(LinkParts parts) : parts_(parts) {
    raised_ = parts_.guard.on_raise([this](std::uint64_t term) { end_below(term); });
}

std::shared_ptr<WebSocketHandler> LinkServer::open(std::uint64_t term) {
    parts_.guard.raise(term);
    auto link = std::make_shared<Link>(parts_, term);
    links_.with([&](auto& all) {
        std::erase_if(all, [](const auto& each) { return each.expired(); });
        all.push_back(link);
    });
    return link;
}

void LinkServer::end_below(std::uint64_t term) {
    for (const auto& each : links_.with([](const auto& all) { return all; }))
        if (const auto link = each.lock(); link && link->term() < term)
            link->end(CloseCode::policy, "a newer leader has asked this node");
}

void LinkServer::end_all() {
    end_below(static_cast<std::uint64_t>(-1));
}

}  // namespace svc::node
