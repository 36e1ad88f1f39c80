#pragma once
// A small init: the first process of a container whose program does not expect to be that.
#include <csignal>
#include <functional>

namespace svc::agent {

// Blocks every signal of this thread from now on. The first process of a container loses a signal that comes
// before it waits for it: a container that is stopped as it starts would not end.
class BlockedSignals {
  public:
    BlockedSignals();
    void restore() const;  // for the program that is executed next
  private:
    sigset_t former_{};
};

// Runs `become` in a child process, where it has to replace that process by the program, or to throw: its
// error goes to standard error, and the child's exit status is 127. Every signal must be blocked; `become`
// restores that. Reaps every orphan. Passes signals on to the child; what asks it to end (SIGTERM, SIGPWR,
// SIGRTMIN+3) arrives as `stop_signal`, at most once a second. Returns the child's exit status, or 128 + its
// signal. Must be called before any thread is started.
int run_below_init(const std::function<void()>& become, int stop_signal);

}  // namespace svc::agent
