#pragma once
// How long ago the dates in records were. The date may be set at any time: a moment is compared with the date
// once, when it is seen first; from then on the steady clock counts.
#include <map>
#include <string>

#include "libsvc/base/clock.h"

namespace svc {

// One thread.
class Ages {
  public:
    explicit Ages(const Clock& clock) : clock_(clock) {}
    // `what` names the moment, `when` is its date; with another date it is another moment. Never negative.
    Duration since(const std::string& what, Time when);
    // Forgets those that nobody has asked for since this was called last.
    void forget_unasked();

  private:
    struct Age {
        Time when{};
        Duration before{};  // when it was seen first
        SteadyTime seen{};
        bool asked = false;
    };
    const Clock& clock_;
    std::map<std::string, Age> ages_;
};

}  // namespace svc
