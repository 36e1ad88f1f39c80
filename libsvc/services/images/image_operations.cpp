#include "libsvc/services/images/image_operations.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/services/common/progress.h"
#include "libsvc/services/images/image_package.h"

namespace svc {

namespace {

constexpr std::string_view android_mark = "/system/build.prop";  // every Android has it, and nothing else

}  // namespace

Json ImageTarget::to_json() const {
    return Json::object({{"image", image}, {"version", version}, {"default", make_default}});
}

ImageTarget ImageTarget::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {fields.require_string("image"), static_cast<int>(fields.require_int("version")),
            fields.boolean("default").value_or(false)};
}

OperationSpec image_operation(std::string kind, std::string description, std::string_view addressed,
                              const ImageTarget& target, std::string requestor) {
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources["images"] = {"/1.0/images/" + std::string(addressed)};
    spec.claims = {"images/" + target.image};
    spec.cancellable = true;
    spec.arguments = target.to_json();
    spec.requestor = std::move(requestor);
    return spec;
}

ImageOperations::ImageOperations(Images& images, DefaultImage& default_image, Content& content,
                                 Engine& engine)
    : images_(images), default_image_(default_image), content_(content), engine_(engine) {
    register_kinds();
}

void ImageOperations::register_kinds() {
    const auto handle = [this](const char* kind, auto run, auto undo) {
        OperationHandler handler;
        handler.run = run;
        handler.undo = undo;
        handler.resumable = true;
        engine_.handle(kind, std::move(handler));
    };
    const auto unpack = [this](OperationContext& context) { return this->unpack(context); };
    handle("image.add", unpack, [this](const Operation& o, const Error&) { return undo_create(o); });
    handle("image.update", unpack, [this](const Operation& o, const Error&) { return erase_version(o); });
    handle(
        "image.delete", [this](OperationContext& c) { return erase(c.operation()); },
        [this](const Operation& o, const Error&) { return keep(o); });
    handle(
        "image.delete_version", [this](OperationContext& c) { return erase_version(c.operation()); },
        nullptr);
    handle(  // the change is stored with the start
        "image.patch", [](OperationContext&) { return OperationResult(); }, nullptr);
    handle(  // earlier versions of this service stored the change at the end
        "image.set_default", [this](OperationContext& c) { return set_default(c.operation()); }, nullptr);
}

OperationResult ImageOperations::set_default(const Operation& operation) {
    const auto target = ImageTarget::of(operation);
    if (target.make_default) default_image_.change(target.image, true, [](Image&) {});
    return {};
}

OperationResult ImageOperations::unpack(OperationContext& context) {
    const auto target = ImageTarget::of(context.operation());
    const auto image = images_.get(target.image);
    const ImageVersion* const version = image->version(target.version);
    if (version == nullptr) throw Error(ErrorCode::not_found, "image version not found");
    if (version->status != ImageStatus::active) {  // an earlier process has done it otherwise
        const ImageMetadata metadata = unpack_layer(*version, context);
        activate(target, metadata, content_.layers().size(version->layer()));
    }
    log::info("image version active", {{"image", target.image}, {"version", std::to_string(target.version)}});
    OperationResult result;
    if (listener_) result.after = [this, id = target.image] { listener_(id); };
    return result;
}

ImageMetadata ImageOperations::unpack_layer(const ImageVersion& version, OperationContext& context) {
    const auto package = content_.blobs().path(version.fingerprint);
    ImageMetadata metadata = version.metadata;
    if (metadata.architecture.empty()) metadata = read_image_metadata(package, whole_package).value();
    content_.layers().add(version.layer(), package, unpack_progress(context));
    failpoint("image.unpacked");
    if (!metadata.has_profile())
        metadata.android = content_.layers().contains_file(version.layer(), android_mark);
    return metadata;
}

void ImageOperations::activate(const ImageTarget& target, const ImageMetadata& metadata,
                               std::uint64_t root_size) {
    default_image_.change(target.image, target.make_default, [&](Image& image) {
        ImageVersion* const version = image.version(target.version);
        if (version == nullptr) throw Error(ErrorCode::not_found, "image version not found");
        version->status = ImageStatus::active;
        version->metadata = metadata;
        version->root_size = root_size;
    });
}

OperationResult ImageOperations::undo_create(const Operation& operation) {
    const auto target = ImageTarget::of(operation);
    const auto image = images_.find(target.image);
    OperationResult result;
    if (!image) return result;
    result.stage = [this, target](Batch& last) { images_.stage_remove(last, target.image); };
    result.after = [this, fingerprint = image->versions.at(0).fingerprint] { drop_package(fingerprint); };
    return result;
}

OperationResult ImageOperations::erase_version(const Operation& operation) {
    const auto target = ImageTarget::of(operation);
    const auto image = images_.find(target.image);
    const ImageVersion* const version = image ? image->version(target.version) : nullptr;
    OperationResult result;
    if (version == nullptr) return result;
    result.stage = [this, target](Batch& last) {
        if (!images_.find(target.image)) return;
        images_.stage_update(last, target.image, [&](Image& changed) {
            std::erase_if(changed.versions,
                          [&](const ImageVersion& v) { return v.version == target.version; });
        });
    };
    result.after = [this, fingerprint = version->fingerprint] { drop_package(fingerprint); };
    return result;
}

OperationResult ImageOperations::erase(const Operation& operation) {
    const auto target = ImageTarget::of(operation);
    const auto image = images_.find(target.image);
    if (!image) return {};  // this deletion cancelled its upload, or was resumed after its end
    OperationResult result;
    result.stage = [this, id = target.image](Batch& last) { images_.stage_remove(last, id); };
    result.after = [this, image] {
        log::info("image deleted", {{"image", image->id.str()}});
        for (const ImageVersion& version : image->versions) drop_package(version.fingerprint);
    };
    return result;
}

// The packages go after the record alone, so an image that could not be deleted is as good as before.
OperationResult ImageOperations::keep(const Operation& operation) {
    OperationResult result;
    result.stage = [this, id = ImageTarget::of(operation).image](Batch& last) {
        if (images_.find(id)) images_.stage_update(last, id, [](Image& kept) { kept.deleting = false; });
    };
    return result;
}

void ImageOperations::drop_package(const std::string& fingerprint) {
    content_.drop({fingerprint}, {fingerprint});
}

}  // namespace svc
