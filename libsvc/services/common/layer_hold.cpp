#include "libsvc/services/common/layer_hold.h"

#include <utility>

#include "libsvc/base/log.h"

namespace svc {

namespace {

class HeldArchive final : public ArchiveStream {
  public:
    HeldArchive(std::unique_ptr<LayerHold> hold, std::unique_ptr<ArchiveStream> archive)
        : hold_(std::move(hold)), archive_(std::move(archive)) {}
    std::string read(std::size_t at_most) override { return archive_->read(at_most); }
    std::string format() const override { return archive_->format(); }

  private:
    std::unique_ptr<LayerHold> hold_;  // destroyed after the archive, which reads the layers
    std::unique_ptr<ArchiveStream> archive_;
};

}  // namespace

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

std::unique_ptr<ArchiveStream> held_archive(std::unique_ptr<LayerHold> hold,
                                            std::unique_ptr<ArchiveStream> archive) {
    return std::make_unique<HeldArchive>(std::move(hold), std::move(archive));
}

}  // namespace svc
