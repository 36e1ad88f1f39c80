#include "libsvc/services/common/layer_hold.h"

#include "libsvc/base/log.h"

namespace svc {

LayerHold::~LayerHold() {
    try {
        if (!layers_.empty()) content_.drop_layers(layers_);
    } catch (const std::exception& e) {
        log::warning("layers cannot be let go", {{"error", e.what()}});
    }
}

void LayerHold::add(const std::vector<std::string>& layers) {
    content_.hold_layers(layers);
    layers_.insert(layers_.end(), layers.begin(), layers.end());
}

}  // namespace svc
