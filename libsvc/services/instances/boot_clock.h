#pragma once
// Takes marks of the steady clock, and tells how long ago one was taken. A step of the date moves neither;
// marks that an earlier process has stored count as long as the machine is not booted again.
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/model/instances/steady_mark.h"

namespace svc {

// Thread-safe.
class BootClock {
  public:
    // `boot`: the id of the machine's boot; "": the kernel is asked.
    BootClock(const Clock& clock, const std::string& boot);
    SteadyMark mark() const { return {boot_, clock_.steady_now()}; }
    // Nothing for no mark, and for one of another boot.
    std::optional<Duration> since(const SteadyMark& mark) const;

  private:
    const Clock& clock_;
    const Interned<std::string> boot_;
};

}  // namespace svc
