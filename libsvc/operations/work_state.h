#pragma once
// How far the work of one operation is: in run(), detached, completed; and how it is asked to stop.
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include "libsvc/base/once.h"
#include "libsvc/operations/handler.h"

namespace svc {

// Thread-safe. The work ends once: with what run() returned or threw, or through the completion of detached
// work, whichever comes first.
class WorkState {
  public:
    // `dispatch` hands the job to a worker that takes the last step. Called with a lock held: must only
    // queue.
    explicit WorkState(std::function<void()> dispatch) : dispatch_(std::move(dispatch)) {}

    std::stop_token stop_token() const { return stop_.get_token(); }
    void ask_to_stop();  // calls the on_stop of detached work on this thread

    // The worker calls enter_run() before run() and leave_run() after it. leave_run() returns the last step
    // that is to be taken now; nothing when the work was detached and goes on elsewhere.
    void enter_run();
    std::optional<LastStep> leave_run(LastStep own, bool failed);
    void detach(std::function<void()> on_stop);
    void complete(LastStep step);  // dispatches the job unless run() has yet to return
    std::optional<LastStep> take_last_step();
    void disconnect();  // complete() does nothing from now on: the engine is being destroyed

  private:
    void keep(LastStep step);

    mutable std::mutex mutex_;
    std::function<void()> dispatch_;
    std::function<void()> on_stop_;
    std::optional<LastStep> last_step_;
    std::stop_source stop_;
    bool in_run_ = false;
    bool detached_ = false;
    bool stop_asked_ = false;
    Once<LastStep> first_end_{[this](LastStep step) { keep(std::move(step)); }};
};

}  // namespace svc
