#pragma once
// What an instance shows, as a picture or a recording (API extensions instance_screenshots and
// instance_recordings; docs/captures.md).
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/captures/capture_stream.h"
#include "libsvc/services/common/instance_uses.h"
#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe. It has no threads: whoever reads a capture waits for its bytes.
class CaptureService {
  public:
    static constexpr std::size_t most_at_once = 16;

    // Captures may outlive this. Throws internal where there is no descriptor left.
    CaptureService(Instances& instances, InstanceUses& uses, Runtime& runtime);

    // Blocks until the first bytes are here, some seconds at most. Throws not_found; invalid_argument for an
    // instance that is not up, is paused, or does not stream; busy where it is being recorded, or too many
    // captures go on; unavailable.
    std::unique_ptr<CaptureStream> begin(std::string_view id, const CaptureRequest& request);
    std::size_t running() const;
    void stop();  // ends the captures that go on: their reads throw. No others begin

  private:
    struct Turns {
        std::size_t count = 0;
        std::set<std::string> recorded;  // ids of instances
    };
    std::shared_ptr<void> take_turn(const std::string& id, CaptureRequest::Kind kind) const;

    Instances& instances_;
    InstanceUses& uses_;  // in use while it is captured
    Runtime& runtime_;
    std::shared_ptr<Guarded<Turns>> turns_ = std::make_shared<Guarded<Turns>>();
    std::shared_ptr<const FileDescriptor> stopped_;  // an eventfd
};

}  // namespace svc
