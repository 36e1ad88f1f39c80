#include "libsvc/services/images/image_service.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/images/image_package.h"

namespace svc {

namespace {

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

ImageService::ImageService(ImageServiceParts parts)
    : parts_(std::move(parts)),
      default_image_(parts_.images, parts_.store),
      operations_(parts_.images, default_image_, parts_.content, parts_.engine) {
    parts_.content.add_referrer([&images = parts_.images](ContentReferences& used) {
        for (const auto& image : images.list())
            for (const ImageVersion& version : image->versions) {
                used.blobs.insert(version.fingerprint);
                used.layers.insert(version.layer());
            }
    });
}

void ImageService::check_create(const ImageRequest& request) const {
    if (request.name.empty()) throw Error(ErrorCode::invalid_argument, "name is required");
    check_image_name("name", request.name);
    if (parts_.images.find(request.name)) throw Error(ErrorCode::conflict, "image already exists");
}

std::shared_ptr<const Image> ImageService::check_update(std::string_view id_or_name) const {
    auto image = parts_.images.get(id_or_name);
    if (image->deleting) throw_deleting();
    if (image->immutable) throw Error(ErrorCode::forbidden, "updating immutable image not allowed");
    return image;
}

Started ImageService::create(const ImageRequest& request, UploadedPackage package,
                             std::string_view fingerprint, std::string requestor) {
    check_create(request);
    check_fingerprint(package.info, fingerprint);
    Image image = new_image(request.name, new_version(0, package));
    return start_create(std::move(image), std::move(package), request.is_default.value_or(false),
                        std::move(requestor));
}

Started ImageService::update(std::string_view id_or_name, const ImageRequest& request,
                             UploadedPackage package, std::string_view fingerprint, std::string requestor,
                             const Precondition& unchanged) {
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

Started ImageService::import(const RemoteImage& remote, UploadedPackage package) {
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

Image ImageService::new_image(const std::string& name, ImageVersion first) const {
    Image image;
    image.id = ImageId(parts_.ids.object_id());
    image.name = name;
    image.created_at = parts_.clock.now();
    image.versions.push_back(std::move(first));
    image.next_version = 1;
    return image;
}

Started ImageService::start_create(Image image, UploadedPackage package, bool make_default,
                                   std::string requestor) {
    const ImageTarget target{image.id.str(), 0, make_default};
    auto spec = image_operation("image.add", "Adding image", image.id.str(), target, std::move(requestor));
    try {
        return start_import(std::move(package), std::move(spec),
                            [&](Batch& batch) { parts_.images.stage_create(batch, image); });
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict) throw;
        throw Error(ErrorCode::conflict, "image already exists");  // another upload of that name was faster
    }
}

Started ImageService::start_update(const Image& image, ImageVersion version, UploadedPackage package,
                                   std::string_view addressed, bool make_default, std::string requestor,
                                   const Precondition& unchanged) {
    const ImageTarget target{image.id.str(), version.version, make_default};
    const auto spec =
        image_operation("image.update", "Updating image", addressed, target, std::move(requestor));
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
Started ImageService::patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor,
                            const Precondition& unchanged) {
    const bool make_default = patch.is_default.value_or(false);
    std::string id;
    Started started = retry_on_conflict([&] {
        const auto held = default_image_.lock();
        const auto image = parts_.images.get(id_or_name);
        check_patch(*image, patch);
        id = image->id.str();
        auto spec =
            image_operation("image.patch", "Updating image", id_or_name, {id, 0, make_default}, requestor);
        spec.cancellable = false;
        Batch batch;
        const auto check = [&](const Image& changed) {
            if (unchanged) unchanged(etag_of(changed));
        };
        if (make_default)
            default_image_.stage(batch, id, true, check);
        else
            parts_.images.stage_update(batch, id, check);
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
    if (patch.force_sync) sync_listener_(id);
    return started;
}

void ImageService::check_patch(const Image& image, const ImagePatch& patch) const {
    if (image.deleting) throw_deleting();
    const bool make_default = patch.is_default.value_or(false);
    if (patch.is_default && !make_default && image.is_default)
        throw Error(ErrorCode::invalid_argument,
                    "unsetting the default image not allowed: make another image the default");
    if (make_default && image.newest_active() == nullptr)
        throw Error(ErrorCode::invalid_argument, "image " + image.name + " is not active");
    if (patch.force_sync) check_sync(image);
}

// Only images from an image server can be fetched again.
void ImageService::check_sync(const Image& image) const {
    const auto is_remote = [](const ImageVersion& version) { return !version.remote_id.empty(); };
    if (!sync_listener_ || std::ranges::none_of(image.versions, is_remote))
        throw Error(ErrorCode::unsupported, "force_sync not supported");
}

// This and the next are asked of the record that the commit changes: of two deletions at the same moment one
// sees the other.
void ImageService::check_may_go(const Image& image, bool force) const {
    if (image.deleting && is_going(image)) throw_deleting();
    if (image.immutable && !force) throw Error(ErrorCode::forbidden, "deleting immutable image not allowed");
    if (image.is_default && !is_only_image(image))
        throw Error(ErrorCode::invalid_argument, "deleting default image not allowed");
    if (!force && !used_by(image).empty()) throw Error(ErrorCode::busy, "image is in use");
}

// A deletion that failed has left the mark: it may be started again.
bool ImageService::is_going(const Image& image) const {
    return parts_.engine.claimed("images/" + image.id.str());
}

void ImageService::check_version_may_go(const Image& image, int number) const {
    const ImageVersion* const version = image.version(number);
    if (version == nullptr) throw Error(ErrorCode::not_found, "image version not found");
    const bool marked = version->status == ImageStatus::deleted;
    if ((image.deleting || marked) && is_going(image)) throw_deleting();
    if (image.immutable)
        throw Error(ErrorCode::invalid_argument, "deleting a version of an immutable image not allowed");
    if (!marked && remaining_versions(image) == 1)
        throw Error(ErrorCode::invalid_argument, "deleting the last version of an image not allowed");
}

Started ImageService::remove(std::string_view id_or_name, bool force, std::string requestor) {
    return retry_on_conflict([&] {
        const auto held =
            default_image_.lock();  // no other image chooses whether to be the default meanwhile
        const auto image = parts_.images.get(id_or_name);
        auto spec = image_operation("image.delete", "Deleting image", id_or_name, {image->id.str(), 0, false},
                                    requestor);
        spec.wait_for_claims = true;
        spec.cancellable = false;
        Batch batch;
        parts_.images.stage_update(batch, image->id.str(), [this, force](Image& changed) {
            check_may_go(changed, force);
            changed.deleting = true;
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

Started ImageService::remove_version(std::string_view id_or_name, int number, std::string requestor) {
    return retry_on_conflict([&] {
        const auto image = parts_.images.get(id_or_name);
        auto spec = image_operation("image.delete_version", "Deleting image version", id_or_name,
                                    {image->id.str(), number, false}, requestor);
        spec.cancellable = false;
        Batch batch;
        parts_.images.stage_update(batch, image->id.str(), [this, number](Image& changed) {
            check_version_may_go(changed, number);
            changed.version(number)->status = ImageStatus::deleted;
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

bool ImageService::is_only_image(const Image& image) const {
    const auto images = parts_.images.list();
    return std::ranges::none_of(images,
                                [&](const auto& other) { return other->id != image.id && !other->deleting; });
}

// Throws when the first part of the package is not that of an image.
ImageVersion ImageService::new_version(int number, const UploadedPackage& package) const {
    ImageVersion version;
    version.version = number;
    version.fingerprint = package.info.digest;
    version.size = package.info.size;
    version.created_at = parts_.clock.now();
    if (const auto metadata = read_image_metadata(package.blob->path(), quick_search_bytes))
        version.metadata = *metadata;
    return version;
}

Started ImageService::start_import(UploadedPackage package, const OperationSpec& spec,
                                   const std::function<void(Batch&)>& stage) {
    Started started;
    parts_.content.keep(std::move(package), [&] {
        const auto held = default_image_.lock();
        Batch batch;
        stage(batch);
        started = parts_.engine.start(spec, std::move(batch));
    });
    return started;
}

std::vector<std::string> ImageService::used_by(const Image& image) const {
    std::vector<std::string> ids;
    for (const auto& application : parts_.applications.list())
        if (application->parent_image_id == image.id.str()) ids.push_back(application->id.str());
    return ids;
}

Json ImageService::describe(const Image& image) const {
    return to_json(image, used_by(image));
}

std::string ImageService::etag(const Image& image) const {
    return etag_of(image);
}

}  // namespace svc
