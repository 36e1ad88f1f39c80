#pragma once
// Tells of each change of an instance's record, whoever has stored it.
#include <functional>
#include <utility>

#include "libsvc/base/guarded.h"
#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe. Outlives the collection that it observes.
class InstanceListener {
  public:
    using Call = std::function<void(const Instance* before, const Instance* after)>;  // as of the observer

    // For the constructor of the collection.
    Instances::Observer observer() {
        return [this](const Instance* before, const Instance* after) {
            call_.with([&](const Call& call) {
                if (call) call(before, after);
            });
        };
    }
    // Called with the collection's lock held: must be quick, not throw and not use it. Not called any more
    // once it was set anew; null: nobody is told.
    void set(Call call) {
        call_.with([&](Call& present) { present = std::move(call); });
    }

  private:
    Guarded<Call> call_;
};

}  // namespace svc
