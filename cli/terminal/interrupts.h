#pragma once
// Ctrl-C while a command waits: the first one asks to cancel, the second one ends the program.

namespace svc::cli {

// While it lives, the first SIGINT or SIGTERM is noted instead of ending the process; the second one ends the
// process with status 130. At most one object at a time.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    static bool requested() noexcept;
};

}  // namespace svc::cli
