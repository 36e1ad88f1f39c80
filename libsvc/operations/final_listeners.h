#pragma once
// Who is to be called when an operation is final.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "libsvc/base/once.h"
#include "libsvc/base/timer.h"
#include "libsvc/operations/handler.h"

namespace svc {

// Calls back once: when the operation is final, or when the timeout has passed. Thread-safe.
class FinalListener {
  public:
    explicit FinalListener(std::function<void(OperationPtr)> done) : done_(std::move(done)) {}
    void call(OperationPtr record);           // the first call counts; what the callback throws is logged
    bool keep_timeout(Timer::Ticket ticket);  // false: was called already, the caller cancels the ticket
    Timer::Ticket timeout() const { return ticket_; }  // 0: none

  private:
    Once<OperationPtr> done_;
    std::atomic<Timer::Ticket> ticket_ = 0;
};

// The listeners of one operation. Thread-safe.
class FinalListeners {
  public:
    // False once tell() was called. Between the final record and tell() the event of the end is published: a
    // listener must not be called before that event.
    bool add(std::shared_ptr<FinalListener> listener);
    void remove(const std::shared_ptr<FinalListener>& listener);
    void tell(const OperationPtr& record, Timer& timer);  // calls all, cancels their timeouts

  private:
    std::vector<std::shared_ptr<FinalListener>> take();

    std::mutex mutex_;
    std::vector<std::shared_ptr<FinalListener>> listeners_;
    bool told_ = false;
};

}  // namespace svc
