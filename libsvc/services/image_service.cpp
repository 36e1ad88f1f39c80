#include "libsvc/services/image_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/model/names.h"
#include "libsvc/services/image_implementation.h"
#include "libsvc/services/image_package.h"

namespace svc {

namespace {

constexpr int max_attempts = 20;  // of a change whose record somebody else changes at the same moment

template <class F>
Started retry_on_conflict(F&& start) {
    for (int attempt = 1;; ++attempt) {
        try {
            return start();
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict || attempt == max_attempts) throw;
        }
    }
}

std::string url_of(std::string_view addressed) {
    return "/1.0/images/" + std::string(addressed);
}

[[noreturn]] void throw_deleting() {
    throw Error(ErrorCode::busy, "deletion already in progress");
}

std::ptrdiff_t remaining_versions(const Image& image) {
    return std::ranges::count_if(image.versions,
                                 [](const ImageVersion& v) { return v.status != ImageStatus::deleted; });
}

}  // namespace

ImageService::Implementation::Implementation(ImageServiceParts parts) : parts_(std::move(parts)) {
    register_kinds();
}

void ImageService::Implementation::check_create(const ImageRequest& request) const {
    if (request.name.empty()) throw Error(ErrorCode::invalid_argument, "name is required");
    check_image_name("name", request.name);
    if (parts_.images.find(request.name)) throw Error(ErrorCode::conflict, "image already exists");
}

std::shared_ptr<const Image> ImageService::Implementation::check_update(std::string_view id_or_name) const {
    auto image = parts_.images.get(id_or_name);
    if (image->deleting) throw_deleting();
    if (image->immutable) throw Error(ErrorCode::forbidden, "updating immutable image not allowed");
    return image;
}

Started ImageService::Implementation::create(const ImageRequest& request, UploadedPackage package,
                                             std::string_view fingerprint, std::string requestor) {
    check_create(request);
    check_fingerprint(package.info, fingerprint);
    const auto metadata = read_image_metadata(package.blob->path(), quick_search_bytes);
    Image image;
    image.id = ImageId(parts_.ids.object_id());
    image.name = request.name;
    image.created_at = parts_.clock.now();
    image.versions.push_back(new_version(0, package.info));
    if (metadata) image.versions.back().metadata = *metadata;
    image.next_version = 1;
    const Target target{image.id.str(), 0, request.is_default.value_or(false)};
    auto spec = spec_for("image.add", "Adding image", image.id.str(), target, std::move(requestor));
    try {
        return start_import(std::move(package), std::move(spec),
                            [&](Batch& batch) { parts_.images.stage_create(batch, image); });
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict) throw;
        throw Error(ErrorCode::conflict, "image already exists");  // another upload of that name was faster
    }
}

Started ImageService::Implementation::update(std::string_view id_or_name, const ImageRequest& request,
                                             UploadedPackage package, std::string_view fingerprint,
                                             std::string requestor) {
    const auto image = check_update(id_or_name);
    if (!request.name.empty() && request.name != image->name)
        throw Error(ErrorCode::invalid_argument, "argument name is invalid: an image cannot be renamed");
    check_fingerprint(package.info, fingerprint);
    if (!image->versions.empty() && image->versions.back().fingerprint == package.info.digest)
        throw Error(ErrorCode::invalid_argument, "image not changed");
    const auto metadata = read_image_metadata(package.blob->path(), quick_search_bytes);
    ImageVersion version = new_version(image->next_version, package.info);
    if (metadata) version.metadata = *metadata;
    const Target target{image->id.str(), version.version, request.is_default.value_or(false)};
    auto spec = spec_for("image.update", "Updating image", id_or_name, target, std::move(requestor));
    return start_import(std::move(package), std::move(spec), [&](Batch& batch) {
        parts_.images.stage_update(batch, target.image, [&](Image& changed) {
            if (changed.next_version != version.version)
                throw Error(ErrorCode::busy, "update of image " + changed.name + " already in progress");
            changed.versions.push_back(version);
            ++changed.next_version;
        });
    });
}

Started ImageService::Implementation::patch(std::string_view id_or_name, const ImagePatch& patch,
                                            std::string requestor) {
    const auto image = parts_.images.get(id_or_name);
    if (image->deleting) throw_deleting();
    const bool make_default = patch.is_default.value_or(false);
    if (patch.is_default && !make_default && image->is_default)
        throw Error(ErrorCode::invalid_argument,
                    "unsetting the default image not allowed: make another image the default");
    if (make_default && image->newest_active() == nullptr)
        throw Error(ErrorCode::invalid_argument, "image " + image->name + " is not active");
    auto spec = spec_for("image.set_default", "Updating image", id_or_name,
                         {image->id.str(), 0, make_default}, std::move(requestor));
    return parts_.engine.start(std::move(spec), {});
}

Started ImageService::Implementation::remove(std::string_view id_or_name, bool force, std::string requestor) {
    return retry_on_conflict([&] {
        const auto image = parts_.images.get(id_or_name);
        if (image->deleting) throw_deleting();
        if (image->immutable && !force)
            throw Error(ErrorCode::forbidden, "deleting immutable image not allowed");
        if (image->is_default && parts_.images.size() > 1)
            throw Error(ErrorCode::invalid_argument, "deleting default image not allowed");
        auto spec =
            spec_for("image.delete", "Deleting image", id_or_name, {image->id.str(), 0, false}, requestor);
        spec.wait_for_claims = true;
        spec.cancellable = false;
        Batch batch;
        parts_.images.stage_update(batch, image->id.str(), [](Image& changed) { changed.deleting = true; });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

Started ImageService::Implementation::remove_version(std::string_view id_or_name, int number,
                                                     std::string requestor) {
    return retry_on_conflict([&] {
        const auto image = parts_.images.get(id_or_name);
        const ImageVersion* const version = image->version(number);
        if (version == nullptr) throw Error(ErrorCode::not_found, "image version not found");
        if (image->deleting || version->status == ImageStatus::deleted) throw_deleting();
        if (image->immutable)
            throw Error(ErrorCode::invalid_argument, "deleting a version of an immutable image not allowed");
        if (remaining_versions(*image) == 1)
            throw Error(ErrorCode::invalid_argument, "deleting the last version of an image not allowed");
        auto spec = spec_for("image.delete_version", "Deleting image version", id_or_name,
                             {image->id.str(), number, false}, requestor);
        spec.cancellable = false;
        Batch batch;
        parts_.images.stage_update(batch, image->id.str(), [number](Image& changed) {
            if (ImageVersion* const found = changed.version(number)) found->status = ImageStatus::deleted;
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

std::shared_ptr<const Image> ImageService::Implementation::default_image() const {
    const auto images = parts_.images.list();
    const auto found = std::ranges::find_if(images, [](const auto& image) { return image->is_default; });
    return found == images.end() ? nullptr : *found;
}

OperationSpec ImageService::Implementation::spec_for(std::string kind, std::string description,
                                                     std::string_view addressed, const Target& target,
                                                     std::string requestor) const {
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources["images"] = {url_of(addressed)};
    spec.claims = {"images/" + target.image};
    spec.cancellable = true;
    spec.arguments = target.to_json();
    spec.requestor = std::move(requestor);
    return spec;
}

ImageVersion ImageService::Implementation::new_version(int number, const BlobInfo& package) const {
    ImageVersion version;
    version.version = number;
    version.fingerprint = package.digest;
    version.size = package.size;
    version.created_at = parts_.clock.now();
    return version;
}

Started ImageService::Implementation::start_import(UploadedPackage package, OperationSpec spec,
                                                   const std::function<void(Batch&)>& stage) {
    std::unique_lock lock(packages_);
    package.blob->commit();
    try {
        Batch batch;
        stage(batch);
        return parts_.engine.start(std::move(spec), std::move(batch));
    } catch (...) {
        lock.unlock();
        drop_package(package.info.digest);
        throw;
    }
}

ImageService::ImageService(ImageServiceParts parts)
    : implementation_(std::make_unique<Implementation>(std::move(parts))) {}
ImageService::~ImageService() = default;

void ImageService::check_create(const ImageRequest& request) const {
    implementation_->check_create(request);
}

void ImageService::check_update(std::string_view id_or_name) const {
    implementation_->check_update(id_or_name);
}

Started ImageService::create(const ImageRequest& request, UploadedPackage package,
                             std::string_view fingerprint, std::string requestor) {
    return implementation_->create(request, std::move(package), fingerprint, std::move(requestor));
}

Started ImageService::update(std::string_view id_or_name, const ImageRequest& request,
                             UploadedPackage package, std::string_view fingerprint, std::string requestor) {
    return implementation_->update(id_or_name, request, std::move(package), fingerprint,
                                   std::move(requestor));
}

Started ImageService::patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor) {
    return implementation_->patch(id_or_name, patch, std::move(requestor));
}

Started ImageService::remove(std::string_view id_or_name, bool force, std::string requestor) {
    return implementation_->remove(id_or_name, force, std::move(requestor));
}

Started ImageService::remove_version(std::string_view id_or_name, int version, std::string requestor) {
    return implementation_->remove_version(id_or_name, version, std::move(requestor));
}

std::shared_ptr<const Image> ImageService::get(std::string_view id_or_name) const {
    return implementation_->images().get(id_or_name);
}

std::vector<std::shared_ptr<const Image>> ImageService::list() const {
    return implementation_->images().list();
}

std::shared_ptr<const Image> ImageService::default_image() const {
    return implementation_->default_image();
}

std::string ImageService::etag(const Image& image) const {
    JsonArray versions;
    for (const ImageVersion& version : image.versions)
        versions.push_back(
            Json::object({{"version", version.version}, {"fingerprint", version.fingerprint}}));
    return sha256_hex(Json::object({{"name", image.name},
                                    {"default", image.is_default},
                                    {"versions", Json::array(std::move(versions))}})
                          .dump());
}

void ImageService::collect_garbage() {
    implementation_->collect_garbage();
}

void ImageService::hold_layer(const std::string& layer) {
    implementation_->hold_layer(layer);
}

void ImageService::drop_layer(const std::string& layer) {
    implementation_->drop_layer(layer);
}

}  // namespace svc
