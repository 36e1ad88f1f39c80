#pragma once
// Layers that a leader reads at present, and so does not remove: the node may have sent all of a short
// stream, and let its layers go, before the leader has read it.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/runtime/runtime.h"

namespace svc::node {

// Thread-safe; must outlive the streams.
class LayerHolds {
  public:
    // Makes a stream of these layers that holds them as long as it exists.
    template <class Make>
    std::unique_ptr<ArchiveStream> hold(std::vector<std::string> layers, Make&& make) {
        auto held = std::make_unique<Held>(*this, std::move(layers));
        held->stream = make();
        return held;
    }
    void check_free(std::string_view layer) const {  // throws busy
        if (held_.with([&](const auto& all) { return all.contains(layer); }))
            throw Error(ErrorCode::busy, "layer '" + std::string(layer) + "' is being read");
    }

  private:
    struct Held final : ArchiveStream {
        Held(LayerHolds& of, std::vector<std::string> names) : holds(of), layers(std::move(names)) {
            holds.held_.with([&](auto& all) {
                for (const std::string& each : layers) ++all[each];
            });
        }
        ~Held() override {
            stream.reset();
            holds.held_.with([&](auto& all) {
                for (const std::string& each : layers)
                    if (--all[each] == 0) all.erase(each);
            });
        }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        std::string read(std::size_t at_most) override { return stream->read(at_most); }
        std::string format() const override { return stream->format(); }

        LayerHolds& holds;
        const std::vector<std::string> layers;
        std::unique_ptr<ArchiveStream> stream;
    };

    Guarded<std::map<std::string, unsigned, std::less<>>> held_;
};

}  // namespace svc::node
