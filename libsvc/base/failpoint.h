#pragma once
// Named places at which the crash tests end this process (tests/crash, docs/testing.md).

namespace svc {

// Does nothing. `name` is the name of one place, and is given nowhere else: "folder.what_was_done". The crash
// tests link the same objects with another definition, which kills the process at the place that they ask
// for; so this one is weak. Safe between fork and exec.
void failpoint(const char* name) noexcept;

}  // namespace svc
