#include "libsvc/services/instances/end/evacuation_run.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/nodes/node_operation.h"

namespace svc {

namespace {

constexpr Duration retry_pause = std::chrono::seconds(1);

Error evacuation_given_up() {
    return {ErrorCode::cancelled, "Operation cancelled"};
}

// The store cannot be reached, or the service stops: then this is given up soon.
bool may_go_on_later(const Error& error) {
    return error.code() == ErrorCode::unavailable || error.code() == ErrorCode::cancelled;
}

}  // namespace

EvacuationRun::EvacuationRun(const EvacuationParts& parts, ThreadPool& thread,
                             const OperationContext& context, EvacuationPlan plan, End end)
    : parts_(parts),
      thread_(thread),
      context_(context),
      requestor_(context.operation().requestor),
      plan_(std::move(plan)),
      end_(std::move(end)) {}

void EvacuationRun::begin() {
    const auto completion = context_.detach([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->give_up();
    });
    const std::lock_guard lock(step_);
    completion_ = completion;
    if (given_up_) return completion->fail(evacuation_given_up());
    for (EvacuationMove& move : plan_.moves) {
        if (!move.outcome.empty()) {
            outcomes_.set(move.instance, move.outcome);
            continue;
        }
        ++left_;
        post(move, [this, &move] { begin(move); });
    }
    if (left_ == 0) conclude();
}

// What was begun goes on by itself: it consists of operations.
void EvacuationRun::give_up() {
    const std::lock_guard lock(step_);
    given_up_ = true;
    if (completion_) completion_->fail(evacuation_given_up());
}

// Refused only when the service ends.
void EvacuationRun::post(EvacuationMove& move, Step step) {
    (void)thread_.post(
        [self = shared_from_this(), &move, step = std::move(step)] { self->take(move, step); });
}

void EvacuationRun::take(EvacuationMove& move, const Step& step) {
    const std::lock_guard lock(step_);
    if (given_up_) return;
    try {
        step();
    } catch (const Error& e) {
        if (!may_go_on_later(e)) return fail(move, e.what());
        log::warning("evacuation waits", {{"container", move.instance}, {"reason", e.what()}});
        post_later(move, step);
    } catch (const std::exception& e) {
        fail(move, e.what());
    }
}

void EvacuationRun::post_later(EvacuationMove& move, Step step) {
    parts_.timer.after(
        retry_pause, [self = shared_from_this(), &move, step = std::move(step)] { self->post(move, step); });
}

// What is not final when it is told of was stored late, and waits to be taken up; or the service stops.
void EvacuationRun::await(const std::string& operation, EvacuationMove& move, Step then) {
    const auto go_on = [self = shared_from_this(), &move, then = std::move(then)](const Started& last) {
        if (!is_final(last->status)) return self->post_later(move, [self, &move] { self->begin(move); });
        self->post(move, [last, then] {
            if (last->status != OperationStatus::success) throw Error(ErrorCode::internal, last->err);
            then();
        });
    };
    parts_.engine.when_final(operation, std::nullopt, go_on);
}

void EvacuationRun::fail(EvacuationMove& move, const std::string& reason) {
    if (parts_.instances.find(move.instance)) failures_.push_back(move.instance + ": " + reason);
    end(move, reason);
}

void EvacuationRun::end(EvacuationMove& move, const std::string& outcome) {
    outcomes_.set(move.instance, outcome);
    context_.progress(Json::object({{"instances", outcomes_}}));
    if (--left_ == 0) conclude();
}

void EvacuationRun::conclude() {
    if (failures_.empty()) {
        completion_->succeed([end = end_, outcomes = outcomes_] { return end(outcomes); });
        return;
    }
    completion_->fail(
        Error(ErrorCode::internal, std::to_string(failures_.size()) + " of " +
                                       std::to_string(plan_.moves.size()) + " containers are left on node " +
                                       node_of(context_.operation()) + ": " + join(failures_, "; ")));
}

}  // namespace svc
