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
    package.blob->send_copies();
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

void Content::hold(Counts Holders::*kind, const std::vector<std::string>& names) {
    holders_.with([&](auto& holders) {
        for (const std::string& name : names) ++(holders.*kind)[name];
    });
}

// Those that nobody holds any more.
std::vector<std::string> Content::let_go(Counts Holders::*kind, const std::vector<std::string>& names) {
    return holders_.with([&](auto& holders) {
        std::vector<std::string> last;
        for (const std::string& name : names) {
            const auto found = (holders.*kind).find(name);
            if (found == (holders.*kind).end() || --found->second > 0) continue;
            (holders.*kind).erase(found);
            last.push_back(name);
        }
        return last;
    });
}

void Content::hold_layers(const std::vector<std::string>& layers) {
    hold(&Holders::layers, layers);
}

void Content::drop_layers(const std::vector<std::string>& layers) {
    const auto unheld = let_go(&Holders::layers, layers);
    if (!unheld.empty()) drop({}, unheld);
}

void Content::hold_blobs(const std::vector<std::string>& blobs) {
    hold(&Holders::blobs, blobs);
}

void Content::drop_blobs(const std::vector<std::string>& blobs) {
    const auto unheld = let_go(&Holders::blobs, blobs);
    if (!unheld.empty()) drop(unheld, {});
}

void Content::drop(const std::vector<std::string>& blobs, const std::vector<std::string>& layers) {
    std::lock_guard lock(mutex_);
    remove_unused(references(), blobs, layers);
}

void Content::drop(const ContentReferences& content) {
    drop({content.blobs.begin(), content.blobs.end()}, {content.layers.begin(), content.layers.end()});
}

// What comes after the lists is not looked at; what has got a record since then is referred to.
void Content::collect_garbage() {
    std::vector<std::string> blobs;
    for (BlobInfo& blob : blobs_.list()) blobs.push_back(std::move(blob.digest));
    const std::vector<std::string> layers = layers_.list();
    std::lock_guard lock(mutex_);
    remove_unused(references(), blobs, layers);
}

// A package that is dropped meanwhile is copied in vain, and goes with the garbage.
void Content::keep_copies() {
    std::unique_lock lock(mutex_);
    const ContentReferences used = references();
    lock.unlock();
    blobs_.keep_copies(used.blobs);
}

// Holders come first: who lets go because a record refers to the content by now is in one of both.
ContentReferences Content::references() const {
    ContentReferences used;
    holders_.with([&](const auto& holders) {
        for (const auto& [blob, count] : holders.blobs) used.blobs.insert(blob);
        for (const auto& [layer, count] : holders.layers) used.layers.insert(layer);
    });
    for (const auto& referrer : referrers_) referrer(used);
    return used;
}

bool Content::is_held(Counts Holders::*kind, const std::string& name) const {
    return holders_.with([&](const auto& holders) { return (holders.*kind).contains(name); });
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
        if (is_held(&Holders::blobs, blob)) continue;
        blobs_.remove(blob);
        failpoint("content.blob_dropped");
        log::info("package that nothing refers to removed", {{"fingerprint", blob}});
    }
    for (const std::string& layer : layers) {
        if (layer.empty() || used.layers.contains(layer)) continue;
        if (is_held(&Holders::layers, layer)) continue;
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
