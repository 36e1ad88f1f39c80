#include "server/cluster/operation_wait.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/json.h"
#include "server/http/query.h"

namespace svc::server {

namespace {

constexpr Duration longest_pause = std::chrono::seconds(5);  // events may have been lost
constexpr int first_final_code = 200;

bool is_final(const Response& shown) {
    try {
        return Json::parse(shown.body).at("metadata").at("status_code").as_int() >= first_final_code;
    } catch (const Error&) {
        return true;  // nothing to wait for
    }
}

// Alternates between asking and pausing. An event that comes while it asks makes it ask again at once.
class OperationWait : public std::enable_shared_from_this<OperationWait> {
  public:
    OperationWait(OperationWaitParts parts, const Request& request)
        : parts_(std::move(parts)), id_(request.params.at("id")), show_(std::make_shared<Request>(request)) {
        show_->path = "/1.0/operations/" + id_;
        show_->target = show_->path;
        show_->query.clear();
        if (const auto limit = wait_limit(request)) end_ = parts_.clock.steady_now() + *limit;
    }

    void begin(Responder respond) {
        respond_ = std::move(respond);
        subscription_ = parts_.events.subscribe({EventType::operation},
                                                [weak = weak_from_this(), id = id_](const Event& event) {
                                                    if (event.text->find(id) == std::string::npos)
                                                        return true;
                                                    const auto self = weak.lock();
                                                    if (self) self->wake();
                                                    return self != nullptr;
                                                });
        ask();
    }

  private:
    enum class Phase { asking, asking_with_news, pausing, woken };

    void ask() {
        phase_.with([](Phase& phase) { phase = Phase::asking; });
        parts_.ask(show_, [self = shared_from_this()](Response shown) { self->shown(std::move(shown)); });
    }

    void shown(Response response) {
        if (response.status != 200 || response.later || is_final(response) || remaining() <= Duration::zero())
            return finish(std::move(response));
        const bool again = phase_.with([](Phase& phase) {
            const bool news = phase == Phase::asking_with_news;
            phase = news ? Phase::woken : Phase::pausing;
            return news;
        });
        const Duration pause = again ? Duration::zero() : std::min(longest_pause, remaining());
        parts_.timer.after(pause, [self = shared_from_this(), again] { self->resume(again); });
    }

    // What the timer does is dropped when an event was first.
    void resume(bool woken) {
        const Phase expected = woken ? Phase::woken : Phase::pausing;
        const bool mine = phase_.with([&](Phase& phase) {
            if (phase != expected) return false;
            phase = Phase::asking;
            return true;
        });
        if (mine) ask();
    }

    // Under the lock of the bus.
    void wake() {
        const bool pausing = phase_.with([](Phase& phase) {
            const bool was_pausing = phase == Phase::pausing;
            if (was_pausing) phase = Phase::woken;
            if (phase == Phase::asking) phase = Phase::asking_with_news;
            return was_pausing;
        });
        if (pausing)
            parts_.timer.after(Duration::zero(), [self = shared_from_this()] { self->resume(true); });
    }

    Duration remaining() const { return end_ ? *end_ - parts_.clock.steady_now() : longest_pause; }

    void finish(Response response) {
        subscription_.reset();
        respond_(std::move(response));
    }

    const OperationWaitParts parts_;
    const std::string id_;
    const std::shared_ptr<Request> show_;
    std::optional<SteadyTime> end_;
    Responder respond_;
    Guarded<Phase> phase_{Phase::asking};
    std::unique_ptr<EventBus::Handle> subscription_;
};

}  // namespace

Response wait_at_follower(const OperationWaitParts& parts, const Request& request) {
    const auto wait = std::make_shared<OperationWait>(parts, request);
    Response response;
    response.later = [wait](const Responder& respond) { wait->begin(respond); };
    return response;
}

}  // namespace svc::server
