#pragma once
// Waiting, while a daemon starts, for what it needs and what may start with it: all machines of a cluster may
// have been switched on at once.
#include <functional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"

namespace svc::process {

// Main thread.
class Patience {
  public:
    Patience(std::string what, Clock& clock);  // "etcd"
    ~Patience();
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

    // Before another try: pauses, tells systemd that the start goes on, and logs the reason every now and
    // then. SIGTERM and SIGINT end the process while it pauses, as SIGKILL does at any moment.
    void pause(const std::string& reason);

  private:
    const std::string what_;
    Clock& clock_;
    bool waited_ = false;
    SteadyTime next_words_{};
};

// What `begin` returns, which is called again as long as it throws unavailable. Other errors pass through.
template <typename Begin>
auto when_it_answers(const std::string& what, Clock& clock, const Begin& begin) {
    Patience patience(what, clock);
    for (;;) try {
            return begin();
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable) throw;
            patience.pause(e.what());
        }
}

}  // namespace svc::process
