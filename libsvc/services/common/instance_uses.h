#pragma once
// Who uses instances, and when those that are deleted without a use were used last. Memory alone
// (docs/management.md, "Time to live").
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"

namespace svc {

// Thread-safe. Nothing is kept of an instance that is neither in use nor followed.
class InstanceUses {
  public:
    // The instance is in use until the last copy goes. May outlive the InstanceUses, but not the clock.
    using Hold = std::shared_ptr<void>;
    using Listener = std::function<void(const std::string& id)>;

    explicit InstanceUses(const Clock& clock);

    void follow(const std::string& id);  // from now on its last use is known; this is one
    void forget(const std::string& id);
    void note(std::string_view id);  // a use that is over at once; ignored where the instance is not followed
    [[nodiscard]] Hold hold(const std::string& id);
    // Now while it is in use. Nothing: it is not followed.
    std::optional<SteadyTime> last(std::string_view id) const;
    // Called after each use of an instance that is followed, by any thread: must be quick. Not called any
    // more once it was set anew.
    void on_use(Listener listener);

  private:
    struct Use {
        std::size_t holders = 0;
        bool followed = false;
        SteadyTime last{};
    };
    struct State {
        explicit State(const Clock& its) : clock(its) {}
        void begin(const std::string& id);
        void end(const std::string& id);
        void tell(const std::string& id) const;

        const Clock& clock;
        Guarded<std::map<std::string, Use, std::less<>>> uses;
        Guarded<Listener> listener;
    };
    const std::shared_ptr<State> state_;
};

}  // namespace svc
