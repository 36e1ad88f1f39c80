#pragma once
// Base images and their versions (specification: Image; docs/management.md, "Images and addons"). Values; not
// thread-safe.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/model/packages/guest_image.h"

namespace svc {

struct ImageTag;
using ImageId = Id<ImageTag>;

enum class ImageStatus {
    error = -1,
    unknown = 0,
    initializing = 1,
    created = 2,
    active = 3,
    deleted = 4,
    available = 5,
    queued = 6
};
std::string_view to_text(ImageStatus status);

// metadata.yaml of an image package.
// `architecture` is a field of its own in the package, the rest of GuestImage are properties (`variant`,
// `profile`, `init`, `ready_file`, `ready_command`, `ready_port`).
struct ImageMetadata : GuestImage {
    std::int64_t creation_date = 0;
    Json properties;  // the whole map
    static ImageMetadata parse(
        const Json& document);  // throws invalid_argument "architecture is required" ...
    bool has_profile() const;   // the package says whether the guest is Android
    Json to_json() const;
    static ImageMetadata from_json(const Json& stored);
};

// Adds what parse() reads from `properties` into a GuestImage; what is not set is left out.
void add_guest_properties(const GuestImage& guest, Json& properties);

struct ImageVersion {
    int version = 0;
    std::string fingerprint;  // SHA-256 of the package
    std::uint64_t size = 0;   // bytes of the package
    Time created_at{};
    ImageStatus status = ImageStatus::initializing;
    std::string remote_id;
    std::string error_message;
    ImageMetadata metadata;
    std::uint64_t root_size = 0;                       // bytes of the unpacked files
    std::string layer() const { return fingerprint; }  // name in the LayerStore
};

struct Image {
    ImageId id;
    std::string name;
    std::vector<ImageVersion> versions;  // ascending
    bool immutable = false;
    bool is_default = false;
    bool deleting = false;
    int next_version = 0;  // numbers are never used again
    Time created_at{};

    ImageStatus status() const;        // active as soon as one version is; else that of the highest
    std::string architecture() const;  // of the newest active version, else the highest
    const ImageVersion* version(int number) const;  // null pointer: none
    ImageVersion* version(int number);
    const ImageVersion* newest_active() const;
};

Json to_json(const Image& image,
             const std::vector<std::string>& used_by = {});  // the record of the API; used_by null when empty
Json image_to_store(const Image& image);
Image image_from_store(const Json& stored);

// X-SVC-Request of POST and package PATCH. Empty text, {} and nulls mean "not given".
struct ImageRequest {
    std::string name;
    std::optional<bool> is_default;
    static ImageRequest parse(std::string_view header);  // throws invalid_argument
};
// The JSON form of PATCH.
struct ImagePatch {
    std::optional<bool> is_default;
    bool force_sync = false;  // fetch the newest version from the image server
    static ImagePatch from_json(const Json& body);
};

}  // namespace svc
