#pragma once
// A small init: the first process of a container whose program does not expect to be that.
#include <functional>

namespace svc::agent {

// Runs `become` in a child process, where it has to replace that process by the program, or to throw: its
// error goes to standard error, and the child's exit status is 127. Reaps every orphan. Passes signals on to
// the child; what asks it to end (SIGTERM, SIGPWR, SIGRTMIN+3) arrives as `stop_signal`, at most once a
// second. Returns the child's exit status, or 128 + its signal. Must be called before any thread is started.
int run_below_init(const std::function<void()>& become, int stop_signal);

}  // namespace svc::agent
