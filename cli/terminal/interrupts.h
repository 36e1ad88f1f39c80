#pragma once
// Ctrl-C while something is going on: the first asks for its cancellation, the second ends the program.

namespace svc::cli {

// While alive, SIGINT and SIGTERM are counted instead of ending the process; the second one ends it with
// status 130. At most one at a time.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    static bool requested() noexcept;
};

}  // namespace svc::cli
