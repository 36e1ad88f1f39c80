#include "server/cluster/forwarder.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/cluster/operation_wait.h"
#include "server/login/authenticate.h"

namespace svc::server {

namespace {

constexpr Duration pause_between_tries = std::chrono::milliseconds(100);
constexpr std::string_view operation_wait_path = "/1.0/operations/{id}/wait";

Counter& outcome(const ForwarderParts& parts, const char* name) {
    return parts.metrics.counter(
        parts.api.metric + "_forwarded_requests_total",
        "Requests passed on to the leading " + parts.api.member + ", by what came of them",
        {{"outcome", name}});
}

Error too_busy() {
    return Error(ErrorCode::exhausted, "server is too busy");
}

void respond_with(const Responder& respond, Response answer) {
    answer.later ? answer.later(respond) : respond(std::move(answer));
}

}  // namespace

// A request on its way. One thread at a time has it.
struct Forwarder::Passing {
    Request request;
    Handler here;  // what answers it where this manager leads
    ThreadPool& pool;
    Responder respond;
    SteadyTime deadline{};        // of the search for a leader
    std::uint64_t lost_term = 0;  // of the leader that was lost before it answered: its successor is searched
    std::shared_ptr<void> room;
};

Forwarder::Forwarder(ForwarderParts parts, ForwarderLimits limits)
    : parts_(std::move(parts)),
      limits_(limits),
      connections_(parts_.leadership, parts_.progress, parts_.identity),
      relays_(limits.websockets),
      passed_(outcome(parts_, "answered")),
      repeated_(outcome(parts_, "repeated")),
      refused_(outcome(parts_, "no_leader")),
      unknown_(outcome(parts_, "unknown")),
      trusted_("forward", limits.threads, limits.queue),
      untrusted_("forward-few", limits.untrusted_threads, limits.queue),
      slow_("forward-slow", limits.slow_threads, limits.queue),
      timer_(parts_.clock, "forward") {}

Forwarder::~Forwarder() {
    stop();
}

void Forwarder::stop() {
    stopping_.request_stop();
    trusted_.stop();
    untrusted_.stop();
    slow_.stop();
    relays_.stop();
}

void Forwarder::adapt(const Request& request, RequestPlan& plan) {
    if (parts_.leadership.here() || request.peer->listener == managers_listener) return;
    if (parts_.api.is_local_read(request)) return adapt_local_read(plan);
    const bool is_long = parts_.api.waits_long && parts_.api.waits_long(request);
    ThreadPool& pool = plan.dispatch == Dispatch::on_slow_pool ? slow_
                       : plan.pool || is_long                  ? untrusted_
                                                               : trusted_;
    plan.pool = &pool;
    plan.dispatch = Dispatch::on_pool;
    if (plan.open_upload)
        plan.open_upload = [this, here = std::move(plan.open_upload)](Request& upload) {
            return open_upload(here, upload);
        };
    plan.handler = waits_for_operation(request) ? waiting(std::move(plan.handler), pool)
                                                : forwarding(std::move(plan.handler), pool);
}

bool Forwarder::waits_for_operation(const Request& request) const {
    return parts_.events && request.route->path == operation_wait_path && request.method == Method::get;
}

TryLater Forwarder::no_leader() const {
    return TryLater("no " + parts_.api.member + " leads the cluster at present; nothing was done");
}

TryLater Forwarder::unknown_end() const {
    return TryLater("the leading " + parts_.api.member +
                    " was lost meanwhile: it is not known whether the request was done");
}

// A record that another manager has just written may not be here yet.
void Forwarder::adapt_local_read(RequestPlan& plan) {
    plan.handler = [this, read = std::move(plan.handler)](Request& request) {
        Response response = read(request);
        if (response.status != 404 || response.later) return response;
        response = Response();
        response.later = [this, read, kept = std::make_shared<Request>(request)](const Responder& respond) {
            const bool posted = trusted_.post([this, read, kept, respond] {
                try {
                    parts_.progress.catch_up();
                } catch (const Error& e) {
                    return respond(parts_.api.failure(*kept, e));
                }
                respond_with(respond, read(*kept));
            });
            if (!posted) respond(parts_.api.failure(*kept, too_busy()));
        };
        return response;
    };
}

// Waits on this thread: the client sends its body only then. A few may wait.
std::shared_ptr<BodySink> Forwarder::open_upload(const UploadOpener& here, Request& request) {
    const auto end = parts_.clock.steady_now() + limits_.patience;
    const auto left = [&] {
        return std::chrono::ceil<std::chrono::milliseconds>(end - parts_.clock.steady_now());
    };
    while (parts_.leadership.await(std::max(left(), std::chrono::milliseconds(0)))) {
        if (parts_.leadership.here()) return here(request);
        const auto leader = parts_.leadership.elsewhere();
        if (!leader) continue;
        try {
            const auto connection = connections_.to(*leader);
            return std::make_shared<UploadRelay>(connection, connection->send(request, true));
        } catch (const NotSent&) {
            if (left() <= std::chrono::milliseconds(0) ||
                !parts_.clock.wait(stopping_.get_token(), pause_between_tries))
                break;
        }
    }
    refused_.add();
    throw no_leader();
}

Handler Forwarder::forwarding(Handler here, ThreadPool& pool) {
    return [this, here = std::move(here), &pool](Request& request) {
        std::string body = std::exchange(request.body, std::string());
        const auto passing = std::make_shared<Passing>(Passing{request, here, pool, {}, {}, 0, {}});
        passing->request.body = std::move(body);
        passing->deadline = parts_.clock.steady_now() + limits_.patience;
        Response response;
        response.later = [this, passing](const Responder& respond) {
            passing->respond = respond;
            pass_on(passing);
        };
        return response;
    };
}

// Where this manager has become the leader meanwhile, it waits as a leader does.
Handler Forwarder::waiting(Handler here, ThreadPool& pool) {
    return [this, here = std::move(here), &pool](Request& request) {
        const Handler wait_here = [here, request](Request&) {
            Request copy = request;
            return here(copy);
        };
        const AskLeader ask = [this, wait_here, &pool](const std::shared_ptr<Request>& show,
                                                       Responder respond) {
            const auto passing =
                std::make_shared<Passing>(Passing{*show,
                                                  wait_here,
                                                  pool,
                                                  std::move(respond),
                                                  parts_.clock.steady_now() + limits_.patience,
                                                  0,
                                                  {}});
            if (!pool.post([this, passing] { pass_on(passing); })) fail(*passing, too_busy());
        };
        return wait_at_follower({*parts_.events, parts_.clock, timer_, ask}, request);
    };
}

void Forwarder::fail(Passing& passing, const std::exception& error) const {
    passing.respond(parts_.api.failure(passing.request, error));
}

void Forwarder::pass_on(const std::shared_ptr<Passing>& passing) {
    try {
        if (answered(*passing)) return;
    } catch (const std::exception& e) {
        return fail(*passing, e);
    }
    try_again(passing);
}

// False when nothing was done and another try is due.
bool Forwarder::answered(Passing& passing) {
    if (auto* upload = dynamic_cast<UploadRelay*>(passing.request.upload.get())) {
        return answered_by_upload(passing, *upload);
    }
    if (parts_.leadership.here()) return respond_with(passing.respond, passing.here(passing.request)), true;
    const auto leader = parts_.leadership.elsewhere();
    return leader && answered_by(passing, *leader);
}

// The whole body went out: it cannot be sent once more.
bool Forwarder::answered_by_upload(Passing& passing, UploadRelay& upload) {
    try {
        passing.respond(upload.answer());
        passed_.add();
        return true;
    } catch (const NotSent&) {
        throw TryLater("the leading " + parts_.api.member + " was lost during the upload: nothing was done");
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        unknown_.add();
        throw unknown_end();
    }
}

bool Forwarder::answered_by(Passing& passing, const LeadingManager& leader) {
    const auto connection = connections_.to(leader);
    const Method method = passing.request.method;
    try {
        return answered_by_call(passing, *connection);
    } catch (const NotSent&) {
        return false;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        if (method == Method::get || method == Method::head) {
            if (leader.term > passing.lost_term)
                passing.deadline = parts_.clock.steady_now() + limits_.patience;
            passing.lost_term = leader.term;
            return false;
        }
        unknown_.add();
        throw unknown_end();
    }
}

bool Forwarder::answered_by_call(Passing& passing, LeaderConnection& leader) {
    if (passing.request.wants_websocket()) {
        Response response;
        response.websocket = relays_.add(
            WebSocketClient(leader.target(), passing.request.target, leader.headers_for(passing.request)));
        passing.respond(std::move(response));
    } else {
        passing.respond(leader.answer(leader.send(passing.request, false)));
    }
    passed_.add();
    return true;
}

// Requests that wait for a leader hold memory and no thread.
void Forwarder::try_again(const std::shared_ptr<Passing>& passing) {
    if (!passing->room) passing->room = waiting_bodies_.take(passing->request);
    if (!passing->room) return fail(*passing, too_busy());
    if (parts_.clock.steady_now() >= passing->deadline) {
        refused_.add();
        return fail(*passing, no_leader());
    }
    repeated_.add();
    timer_.after(pause_between_tries, [this, passing] {
        const bool posted = passing->pool.post([this, passing] { pass_on(passing); });
        if (!posted) fail(*passing, too_busy());
    });
}

}  // namespace svc::server
