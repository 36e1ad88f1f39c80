// What the operations of images do in the background.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/images/image_implementation.h"
#include "libsvc/services/images/image_package.h"

namespace svc {

namespace {

Json progress_json(std::uint64_t bytes, std::uint64_t total) {
    const std::uint64_t percent = total > 0 ? std::min<std::uint64_t>(100, bytes * 100 / total) : 0;
    return Json::object(
        {{"progress", Json::object({{"percent", percent}, {"processed", bytes}, {"total", total}})}});
}

}  // namespace

Json ImageService::Implementation::Target::to_json() const {
    return Json::object({{"image", image}, {"version", version}, {"default", make_default}});
}

ImageService::Implementation::Target ImageService::Implementation::Target::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {fields.require_string("image"), static_cast<int>(fields.require_int("version")),
            fields.boolean("default").value_or(false)};
}

void ImageService::Implementation::register_kinds() {
    const auto handle = [this](const char* kind, auto run, auto undo) {
        OperationHandler handler;
        handler.run = run;
        handler.undo = undo;
        handler.resumable = true;
        parts_.engine.handle(kind, std::move(handler));
    };
    const auto unpack = [this](OperationContext& context) { return this->unpack(context); };
    handle("image.add", unpack, [this](const Operation& o, const Error&) { return undo_create(o); });
    handle("image.update", unpack, [this](const Operation& o, const Error&) { return undo_update(o); });
    handle(
        "image.delete", [this](OperationContext& c) { return remove_image(c.operation()); }, nullptr);
    handle(
        "image.delete_version", [this](OperationContext& c) { return undo_update(c.operation()); }, nullptr);
    handle(  // its start has done it
        "image.patch", [](OperationContext&) { return OperationResult(); }, nullptr);
    handle(  // of a version whose start had not
        "image.set_default", [this](OperationContext& c) { return set_default(c.operation()); }, nullptr);
}

OperationResult ImageService::Implementation::set_default(const Operation& operation) {
    const Target target = Target::of(operation);
    if (target.make_default) change_with_default(target.image, true, [](Image&) {});
    return {};
}

OperationResult ImageService::Implementation::unpack(OperationContext& context) {
    const Target target = Target::of(context.operation());
    const auto image = parts_.images.get(target.image);
    const ImageVersion* const version = image->version(target.version);
    if (version == nullptr) throw Error(ErrorCode::not_found, "image version not found");
    if (version->status != ImageStatus::active) {  // else it was done in an earlier life
        const ImageMetadata metadata = unpack_layer(*version, context);
        activate(target, metadata, parts_.content.layers().size(version->layer()));
    }
    log::info("image version active", {{"image", target.image}, {"version", std::to_string(target.version)}});
    OperationResult result;
    if (new_version_listener) result.after = [this, id = target.image] { new_version_listener(id); };
    return result;
}

ImageMetadata ImageService::Implementation::unpack_layer(const ImageVersion& version,
                                                         OperationContext& context) {
    const auto package = parts_.content.blobs().path(version.fingerprint);
    ImageMetadata metadata = version.metadata;
    if (metadata.architecture.empty()) metadata = read_image_metadata(package, whole_package).value();
    LayerStore::Progress progress;
    progress.stop = context.stop();
    progress.report = [&context](std::uint64_t bytes, std::uint64_t total) {
        context.progress(progress_json(bytes, total));
    };
    parts_.content.layers().add(version.layer(), package, progress);
    return metadata;
}

void ImageService::Implementation::activate(const Target& target, const ImageMetadata& metadata,
                                            std::uint64_t root_size) {
    change_with_default(target.image, target.make_default, [&](Image& image) {
        ImageVersion* const version = image.version(target.version);
        if (version == nullptr) throw Error(ErrorCode::not_found, "image version not found");
        version->status = ImageStatus::active;
        version->metadata = metadata;
        version->root_size = root_size;
    });
}

void ImageService::Implementation::change_with_default(const std::string& id, bool make_default,
                                                       const std::function<void(Image&)>& change) {
    retry_on_conflict([&] {
        const std::lock_guard lock(changing_);
        Batch batch;
        stage_with_default(batch, id, make_default, change);
        parts_.store.commit(batch);
    });
}

// Exactly one image is the default: the first one whatever was asked for, later the one that was made it
// last.
void ImageService::Implementation::stage_with_default(Batch& batch, const std::string& id, bool make_default,
                                                      const std::function<void(Image&)>& change) {
    const auto present = default_image();
    const bool becomes_default = make_default || !present;
    if (becomes_default && present && present->id.str() != id)
        parts_.images.stage_update(batch, present->id.str(), [](Image& image) { image.is_default = false; });
    parts_.images.stage_update(batch, id, [&](Image& image) {
        change(image);
        if (becomes_default) image.is_default = true;
    });
}

OperationResult ImageService::Implementation::undo_create(const Operation& operation) {
    const Target target = Target::of(operation);
    const auto image = parts_.images.find(target.image);
    OperationResult result;
    if (!image) return result;
    result.stage = [this, target](Batch& last) { parts_.images.stage_remove(last, target.image); };
    result.after = [this, fingerprint = image->versions.at(0).fingerprint] { drop_package(fingerprint); };
    return result;
}

OperationResult ImageService::Implementation::undo_update(const Operation& operation) {
    const Target target = Target::of(operation);
    const auto image = parts_.images.find(target.image);
    const ImageVersion* const version = image ? image->version(target.version) : nullptr;
    OperationResult result;
    if (version == nullptr) return result;
    result.stage = [this, target](Batch& last) {
        if (!parts_.images.find(target.image)) return;
        parts_.images.stage_update(last, target.image, [&](Image& changed) {
            std::erase_if(changed.versions,
                          [&](const ImageVersion& v) { return v.version == target.version; });
        });
    };
    result.after = [this, fingerprint = version->fingerprint] { drop_package(fingerprint); };
    return result;
}

OperationResult ImageService::Implementation::remove_image(const Operation& operation) {
    const Target target = Target::of(operation);
    const auto image = parts_.images.find(target.image);
    if (!image) return {};  // its upload was cancelled by this deletion, or it was gone before a restart
    OperationResult result;
    result.stage = [this, id = target.image](Batch& last) { parts_.images.stage_remove(last, id); };
    result.after = [this, image] {
        log::info("image deleted", {{"image", image->id.str()}});
        for (const ImageVersion& version : image->versions) drop_package(version.fingerprint);
    };
    return result;
}

void ImageService::Implementation::add_references(ContentReferences& used) const {
    for (const auto& image : parts_.images.list()) {
        for (const ImageVersion& version : image->versions) {
            used.blobs.insert(version.fingerprint);
            used.layers.insert(version.layer());
        }
    }
}

void ImageService::Implementation::drop_package(const std::string& fingerprint) {
    parts_.content.drop({fingerprint}, {fingerprint});
}

}  // namespace svc
