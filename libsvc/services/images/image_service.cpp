#include "libsvc/services/images/image_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/images/image_implementation.h"
#include "libsvc/services/images/image_package.h"

namespace svc {

namespace {

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

std::string etag_of(const Image& image) {
    JsonArray versions;
    for (const ImageVersion& version : image.versions)
        versions.push_back(
            Json::object({{"version", version.version}, {"fingerprint", version.fingerprint}}));
    return sha256_hex(Json::object({{"name", image.name},
                                    {"default", image.is_default},
                                    {"versions", Json::array(std::move(versions))}})
                          .dump());
}

}  // namespace

ImageService::Implementation::Implementation(ImageServiceParts parts) : parts_(std::move(parts)) {
    parts_.content.add_referrer([this](ContentReferences& used) { add_references(used); });
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
    Image image = new_image(request.name, new_version(0, package));
    return start_create(std::move(image), std::move(package), request.is_default.value_or(false),
                        std::move(requestor));
}

Started ImageService::Implementation::update(std::string_view id_or_name, const ImageRequest& request,
                                             UploadedPackage package, std::string_view fingerprint,
                                             std::string requestor, const Precondition& unchanged) {
    const auto image = check_update(id_or_name);
    if (!request.name.empty() && request.name != image->name)
        throw Error(ErrorCode::invalid_argument, "argument name is invalid: an image cannot be renamed");
    check_fingerprint(package.info, fingerprint);
    if (!image->versions.empty() && image->versions.back().fingerprint == package.info.digest)
        throw Error(ErrorCode::invalid_argument, "image not changed");
    ImageVersion version = new_version(image->next_version, package);
    return start_update(*image, std::move(version), std::move(package), id_or_name,
                        request.is_default.value_or(false), std::move(requestor), unchanged);
}

Started ImageService::Implementation::import(const RemoteImage& remote, UploadedPackage package) {
    check_image_name("name", remote.name);
    const auto image = parts_.images.find(remote.name);
    ImageVersion version = new_version(image ? image->next_version : 0, package);
    version.remote_id = remote.remote_id;
    if (!image) {
        Image made = new_image(remote.name, std::move(version));
        made.immutable = true;
        return start_create(std::move(made), std::move(package), remote.make_default, "");
    }
    if (image->deleting) throw_deleting();
    if (!image->immutable) throw Error(ErrorCode::conflict, "image already exists");
    const auto same = [&](const ImageVersion& present) {
        return present.remote_id == version.remote_id || present.fingerprint == version.fingerprint;
    };
    if (std::ranges::any_of(image->versions, same)) return nullptr;
    return start_update(*image, std::move(version), std::move(package), image->id.str(), remote.make_default,
                        "", {});
}

Image ImageService::Implementation::new_image(const std::string& name, ImageVersion first) const {
    Image image;
    image.id = ImageId(parts_.ids.object_id());
    image.name = name;
    image.created_at = parts_.clock.now();
    image.versions.push_back(std::move(first));
    image.next_version = 1;
    return image;
}

Started ImageService::Implementation::start_create(Image image, UploadedPackage package, bool make_default,
                                                   std::string requestor) {
    const Target target{image.id.str(), 0, make_default};
    auto spec = spec_for("image.add", "Adding image", image.id.str(), target, std::move(requestor));
    try {
        return start_import(std::move(package), std::move(spec),
                            [&](Batch& batch) { parts_.images.stage_create(batch, image); });
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict) throw;
        throw Error(ErrorCode::conflict, "image already exists");  // another upload of that name was faster
    }
}

Started ImageService::Implementation::start_update(const Image& image, ImageVersion version,
                                                   UploadedPackage package, std::string_view addressed,
                                                   bool make_default, std::string requestor,
                                                   const Precondition& unchanged) {
    const Target target{image.id.str(), version.version, make_default};
    const auto spec = spec_for("image.update", "Updating image", addressed, target, std::move(requestor));
    return start_import(std::move(package), spec, [&](Batch& batch) {
        parts_.images.stage_update(batch, target.image, [&](Image& changed) {
            if (unchanged) unchanged(etag_of(changed));
            if (changed.next_version != version.version)
                throw Error(ErrorCode::busy, "update of image " + changed.name + " already in progress");
            changed.versions.push_back(version);
            ++changed.next_version;
        });
    });
}

// The change is stored with the operation's record, which has nothing left to do.
Started ImageService::Implementation::patch(std::string_view id_or_name, const ImagePatch& patch,
                                            std::string requestor, const Precondition& unchanged) {
    const bool make_default = patch.is_default.value_or(false);
    std::string id;
    Started started = retry_on_conflict([&] {
        const std::lock_guard lock(changing_);
        const auto image = parts_.images.get(id_or_name);
        check_patch(*image, patch);
        id = image->id.str();
        auto spec = spec_for("image.patch", "Updating image", id_or_name, {id, 0, make_default}, requestor);
        spec.cancellable = false;
        Batch batch;
        const auto check = [&](const Image& changed) {
            if (unchanged) unchanged(etag_of(changed));
        };
        if (make_default)
            stage_with_default(batch, id, true, check);
        else
            parts_.images.stage_update(batch, id, check);
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
    if (patch.force_sync) sync_listener(id);
    return started;
}

void ImageService::Implementation::check_patch(const Image& image, const ImagePatch& patch) const {
    if (image.deleting) throw_deleting();
    const bool make_default = patch.is_default.value_or(false);
    if (patch.is_default && !make_default && image.is_default)
        throw Error(ErrorCode::invalid_argument,
                    "unsetting the default image not allowed: make another image the default");
    if (make_default && image.newest_active() == nullptr)
        throw Error(ErrorCode::invalid_argument, "image " + image.name + " is not active");
    if (patch.force_sync) check_sync(image);
}

// Only what an image server gave can be fetched anew.
void ImageService::Implementation::check_sync(const Image& image) const {
    const auto is_remote = [](const ImageVersion& version) { return !version.remote_id.empty(); };
    if (!sync_listener || std::ranges::none_of(image.versions, is_remote))
        throw Error(ErrorCode::unsupported, "force_sync not supported");
}

Started ImageService::Implementation::remove(std::string_view id_or_name, bool force, std::string requestor) {
    return retry_on_conflict([&] {
        const auto image = parts_.images.get(id_or_name);
        if (image->deleting) throw_deleting();
        if (image->immutable && !force)
            throw Error(ErrorCode::forbidden, "deleting immutable image not allowed");
        if (image->is_default && !is_only_image(*image))
            throw Error(ErrorCode::invalid_argument, "deleting default image not allowed");
        if (!force && !used_by(*image).empty()) throw Error(ErrorCode::busy, "image is in use");
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

bool ImageService::Implementation::is_only_image(const Image& image) const {
    const auto images = parts_.images.list();
    return std::ranges::none_of(images,
                                [&](const auto& other) { return other->id != image.id && !other->deleting; });
}

std::shared_ptr<const Image> ImageService::Implementation::default_image() const {
    const auto images = parts_.images.list();
    const auto found =
        std::ranges::find_if(images, [](const auto& image) { return image->is_default && !image->deleting; });
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

// Throws when what can be read of the package quickly is not that of an image.
ImageVersion ImageService::Implementation::new_version(int number, const UploadedPackage& package) const {
    ImageVersion version;
    version.version = number;
    version.fingerprint = package.info.digest;
    version.size = package.info.size;
    version.created_at = parts_.clock.now();
    if (const auto metadata = read_image_metadata(package.blob->path(), quick_search_bytes))
        version.metadata = *metadata;
    return version;
}

Started ImageService::Implementation::start_import(UploadedPackage package, const OperationSpec& spec,
                                                   const std::function<void(Batch&)>& stage) {
    Started started;
    parts_.content.keep(std::move(package), [&] {
        const std::lock_guard lock(changing_);
        Batch batch;
        stage(batch);
        started = parts_.engine.start(spec, std::move(batch));
    });
    return started;
}

std::vector<std::string> ImageService::Implementation::used_by(const Image& image) const {
    std::vector<std::string> ids;
    for (const auto& application : parts_.applications.list())
        if (application->parent_image_id == image.id.str()) ids.push_back(application->id.str());
    return ids;
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
                             UploadedPackage package, std::string_view fingerprint, std::string requestor,
                             const Precondition& unchanged) {
    return implementation_->update(id_or_name, request, std::move(package), fingerprint, std::move(requestor),
                                   unchanged);
}

Started ImageService::patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor,
                            const Precondition& unchanged) {
    return implementation_->patch(id_or_name, patch, std::move(requestor), unchanged);
}

Started ImageService::remove(std::string_view id_or_name, bool force, std::string requestor) {
    return implementation_->remove(id_or_name, force, std::move(requestor));
}

Started ImageService::remove_version(std::string_view id_or_name, int version, std::string requestor) {
    return implementation_->remove_version(id_or_name, version, std::move(requestor));
}

Started ImageService::import(const RemoteImage& remote, UploadedPackage package) {
    return implementation_->import(remote, std::move(package));
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

Json ImageService::describe(const Image& image) const {
    return to_json(image, implementation_->used_by(image));
}

std::string ImageService::etag(const Image& image) const {
    return etag_of(image);
}

void ImageService::on_new_version(std::function<void(const std::string&)> listener) {
    implementation_->new_version_listener = std::move(listener);
}

void ImageService::on_sync_request(std::function<void(const std::string&)> listener) {
    implementation_->sync_listener = std::move(listener);
}

}  // namespace svc
