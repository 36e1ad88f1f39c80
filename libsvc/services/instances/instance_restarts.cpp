#include "libsvc/services/instances/instance_restarts.h"

#include <memory>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/guarded.h"

namespace svc {

namespace {

constexpr const char* restart_kind = "instance.restart";

Error restart_given_up() {
    return {ErrorCode::cancelled, "Operation cancelled"};
}

struct RestartParts {
    Engine& engine;
    const Instances& instances;
    RestartCalls calls;
};

// One restart that is under way.
class RestartRun : public std::enable_shared_from_this<RestartRun> {
  public:
    RestartRun(const RestartParts& parts, const Operation& operation)
        : parts_(parts), requestor_(operation.requestor), id_(InstanceWork::of(operation).instance) {
        const JsonFields fields(operation.arguments);
        stop_ = fields.require_string("stop");
        start_ = fields.require_string("start");
    }

    void begin(OperationContext& context) {
        completion_ = context.detach([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->give_up();
        });
        const bool given_up = state_.with([](State& state) {
            state.begun = true;
            return state.given_up;
        });
        if (given_up) return completion_->fail(restart_given_up());
        take(&RestartRun::stop);
    }

  private:
    using Step = void (RestartRun::*)();
    struct State {
        bool begun = false, given_up = false;
    };

    // The service stops. What was begun goes on by itself: it is an operation.
    void give_up() {
        const bool begun = state_.with([](State& state) {
            state.given_up = true;
            return state.begun;
        });
        if (begun) completion_->fail(restart_given_up());
    }

    void take(Step step) {
        try {
            (this->*step)();
        } catch (const Error& e) {
            completion_->fail(e);
        } catch (const std::exception& e) {
            completion_->fail(Error(ErrorCode::internal, e.what()));
        }
    }

    void await(const std::string& operation, Step then) {
        parts_.engine.when_final(operation, std::nullopt,
                                 [self = shared_from_this(), then](const Started& part) {
                                     if (!is_final(part->status)) return self->give_up();
                                     if (part->status == OperationStatus::success) return self->take(then);
                                     self->completion_->fail(Error(ErrorCode::internal, part->err));
                                 });
    }

    bool was_begun(const std::string& operation) const {
        return parts_.engine.stored().find(operation) != nullptr;
    }

    bool is_up() const { return may_be_up(parts_.instances.get(id_)->status); }

    void stop() {
        if (!was_begun(stop_)) {
            if (!is_up()) return start();  // somebody else was faster
            parts_.calls.stop(id_, stop_, requestor_);
            failpoint("restart.stop_begun");
        }
        await(stop_, &RestartRun::start);
    }

    void start() {
        if (!was_begun(start_)) {
            if (is_up()) return end();
            parts_.calls.start(id_, start_, requestor_);
            failpoint("restart.start_begun");
        }
        await(start_, &RestartRun::end);
    }

    // A deletion may have been ahead of the start, which ends well then.
    void end() {
        if (parts_.instances.get(id_)->status == InstanceStatus::deleted) throw_being_deleted();
        completion_->succeed([] { return OperationResult{}; });
    }

    const RestartParts parts_;
    const std::string requestor_, id_;
    std::string stop_, start_;  // the ids of the operations
    std::shared_ptr<OperationCompletion> completion_;
    Guarded<State> state_;
};

}  // namespace

void handle_restarts(Engine& engine, const Instances& instances, RestartCalls calls) {
    const auto run = [parts = RestartParts{engine, instances, std::move(calls)}](OperationContext& context) {
        std::make_shared<RestartRun>(parts, context.operation())->begin(context);
        return OperationResult{};
    };
    engine.handle(restart_kind, {run, nullptr, true});
}

Started start_restart(Engine& engine, IdSource& ids, const Instance& instance, PathWord word,
                      const std::string& requestor) {
    const std::string id = instance.id.str();
    auto spec = instance_operation(restart_kind, "Restarting container", {.instance = id}, word, requestor);
    spec.claims = {"restarts/" + id};  // its parts claim the instance
    spec.arguments.set("stop", ids.uuid());
    spec.arguments.set("start", ids.uuid());
    return engine.start(std::move(spec), {});
}

}  // namespace svc
