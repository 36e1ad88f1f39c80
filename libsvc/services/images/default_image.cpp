#include "libsvc/services/images/default_image.h"

#include <algorithm>

#include "libsvc/services/common/retry.h"

namespace svc {

std::shared_ptr<const Image> DefaultImage::find() const {
    const auto images = images_.list();
    const auto found =
        std::ranges::find_if(images, [](const auto& image) { return image->is_default && !image->deleting; });
    return found == images.end() ? nullptr : *found;
}

void DefaultImage::change(const std::string& id, bool make_default, const Change& change) {
    retry_on_conflict([&] {
        const auto held = lock();
        Batch batch;
        stage(batch, id, make_default, change);
        store_.commit(batch);
    });
}

void DefaultImage::stage(Batch& batch, const std::string& id, bool make_default, const Change& change) {
    const auto present = find();
    const bool becomes_default = make_default || !present;
    if (becomes_default && present && present->id.str() != id)
        images_.stage_update(batch, present->id.str(), [](Image& image) { image.is_default = false; });
    images_.stage_update(batch, id, [&](Image& image) {
        change(image);
        if (becomes_default) image.is_default = true;
    });
}

}  // namespace svc
