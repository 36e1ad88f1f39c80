#pragma once
// What the first process of a container has to do: forward signals, reap orphans, become init.
#include <functional>

namespace svc::agent {

// Runs `work` in a child process and returns the child's result, or 128 + signal when the child was killed.
// When this process gets SIGTERM, SIGINT, SIGPWR, SIGUSR2 or SIGRTMIN+3, it kills the child, sets
// `*told_to_end` and returns 128 + signal. Reaps every orphan meanwhile. Must be called before any thread is
// started.
int supervise(const std::function<int()>& work, bool* told_to_end);

// Replaces this process with `program`: default signal handlers, empty signal mask, standard descriptors
// only, the environment that the container gave. Returns errno when execve() fails.
int become(const char* const* program);

}  // namespace svc::agent
