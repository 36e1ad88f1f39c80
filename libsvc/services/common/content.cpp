#include "libsvc/services/common/content.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc {

void check_fingerprint(const BlobInfo& package, std::string_view expected) {
    const std::string wanted = to_lower(trim(expected));
    if (wanted.empty() || wanted == package.digest) return;
    throw Error(ErrorCode::invalid_argument, "fingerprint don't match, got " + package.digest +
                                                 " but expected " +
                                                 (is_sha256_hex(wanted) ? wanted : quoted(expected)));
}

void ContentReferences::merge(ContentReferences more) {
    blobs.merge(more.blobs);
    layers.merge(more.layers);
}

void Content::add_referrer(std::function<void(ContentReferences&)> referrer) {
    std::lock_guard lock(mutex_);
    referrers_.push_back(std::move(referrer));
}

void Content::keep(UploadedPackage package, const std::function<void()>& store) {
    std::lock_guard lock(mutex_);
    package.blob->commit();
    failpoint("content.blob_kept");
    try {
        store();
        failpoint("content.stored");
    } catch (const Error& e) {
        // Its record may still appear; else it goes with the garbage.
        if (e.code() != ErrorCode::unavailable) remove_unused(references(), {package.info.digest}, {});
        throw;
    } catch (...) {
        remove_unused(references(), {package.info.digest}, {});
        throw;
    }
}

void Content::hold_layers(const std::vector<std::string>& layers) {
    holders_.with([&](auto& holders) {
        for (const std::string& layer : layers) ++holders[layer];
    });
}

void Content::drop_layers(const std::vector<std::string>& layers) {
    const auto unheld = holders_.with([&](auto& holders) {
        std::vector<std::string> last;
        for (const std::string& layer : layers) {
            const auto found = holders.find(layer);
            if (found == holders.end() || --found->second > 0) continue;
            holders.erase(found);
            last.push_back(layer);
        }
        return last;
    });
    if (!unheld.empty()) drop({}, unheld);
}

void Content::drop(const std::vector<std::string>& blobs, const std::vector<std::string>& layers) {
    std::lock_guard lock(mutex_);
    remove_unused(references(), blobs, layers);
}

void Content::drop(const ContentReferences& content) {
    drop({content.blobs.begin(), content.blobs.end()}, {content.layers.begin(), content.layers.end()});
}

void Content::collect_garbage() {
    std::lock_guard lock(mutex_);
    std::vector<std::string> blobs;
    for (BlobInfo& blob : blobs_.list()) blobs.push_back(std::move(blob.digest));
    remove_unused(references(), blobs, layers_.list());
}

ContentReferences Content::references() const {
    ContentReferences used;
    for (const auto& referrer : referrers_) referrer(used);
    holders_.with([&](const auto& holders) {
        for (const auto& [layer, count] : holders) used.layers.insert(layer);
    });
    return used;
}

bool Content::is_held(const std::string& layer) const {
    return holders_.with([&](const auto& holders) { return holders.contains(layer); });
}

// A layer that a container is mounted on is kept, whatever the records say. It is removed with the container,
// or at the next start.
void Content::remove_unused(const ContentReferences& used, const std::vector<std::string>& blobs,
                            const std::vector<std::string>& layers) {
    if (incomplete_()) {
        log::warning("no package or layer is removed while records that may need it cannot be read");
        return;
    }
    for (const std::string& blob : blobs) {
        if (blob.empty() || used.blobs.contains(blob) || !blobs_.contains(blob)) continue;
        blobs_.remove(blob);
        failpoint("content.blob_dropped");
        log::info("package that nothing refers to removed", {{"fingerprint", blob}});
    }
    for (const std::string& layer : layers) {
        if (layer.empty() || used.layers.contains(layer) || is_held(layer)) continue;
        try {
            layers_.remove(layer);
            failpoint("content.layer_dropped");
        } catch (const Error& e) {
            if (e.code() != ErrorCode::busy) throw;
            log::info("layer is still in use and stays", {{"layer", layer}});
        }
    }
}

}  // namespace svc
