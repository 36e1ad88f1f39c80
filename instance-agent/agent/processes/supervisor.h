#pragma once
// The duties of a container's first process.
#include <functional>

namespace svc::agent {

// Runs `work` in a child process and returns its result: 128 + signal when it was killed, or as soon as a
// signal asks us to end (SIGTERM, SIGINT, SIGPWR, SIGUSR2, SIGRTMIN+3): then the child is killed too, and
// `*told_to_end` is set. Reaps every orphan meanwhile. Call it before any thread is started.
int supervise(const std::function<int()>& work, bool* told_to_end);

// Becomes `program` as if we had never been there: default signal handlers, empty mask, standard descriptors
// only, the environment as it was. Returns errno when that fails.
int become(const char* const* program);

}  // namespace svc::agent
