#include "libsvc/model/packages/image.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr int image_schema = 1;

constexpr std::array<EnumName<ImageStatus>, 8> status_names{{{ImageStatus::error, "error"},
                                                             {ImageStatus::unknown, "unknown"},
                                                             {ImageStatus::initializing, "initializing"},
                                                             {ImageStatus::created, "created"},
                                                             {ImageStatus::active, "active"},
                                                             {ImageStatus::deleted, "deleted"},
                                                             {ImageStatus::available, "available"},
                                                             {ImageStatus::queued, "queued"}}};

// YAML authors write `release: 12` without quotes: every scalar counts as its text.
Json text_properties(const JsonFields& document) {
    Json result = Json::object();
    const auto properties = document.object("properties");
    if (!properties) return result;
    for (const auto& [key, value] : properties->value().as_object()) {
        if (value.is_array() || value.is_object())
            throw_invalid(properties->path_of(key), "must be a string");
        result.set(key, value.is_string() ? value.as_string()
                        : value.is_null() ? std::string()
                                          : value.dump());
    }
    return result;
}

std::string property(const Json& properties, std::string_view key) {
    const Json* value = properties.find(key);
    return value == nullptr ? std::string() : value->as_string();
}

std::string path_property(const Json& properties, const std::string& key) {
    std::string path = property(properties, key);
    if (path.find('\0') != std::string::npos || (!path.empty() && path[0] != '/'))
        throw_invalid("properties." + key, "must be an absolute path");
    return path;
}

std::string command_property(const Json& properties, const std::string& key) {
    std::string command = property(properties, key);
    if (command.find('\0') != std::string::npos) throw_invalid("properties." + key, "must not contain NUL");
    return command;
}

std::uint16_t port_property(const Json& properties, const std::string& key) {
    const std::string text = property(properties, key);
    if (text.empty()) return 0;
    std::uint16_t port = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (failure != std::errc() || end != text.data() + text.size() || port == 0)
        throw_invalid("properties." + key, "must be a port from 1 to 65535");
    return port;
}

// Images of distributions have a `variant` too ("default", "cloud"); only "android" and "aaos" have a meaning
// here.
std::string variant_property(const Json& properties) {
    std::string variant = property(properties, "variant");
    return variant == "android" || variant == "aaos" ? variant : std::string();
}

bool is_android_profile(const Json& properties) {
    const std::string profile = property(properties, "profile");
    if (!profile.empty() && profile != "android" && profile != "linux")
        throw_invalid("properties.profile", "must be android or linux");
    return profile == "android";
}

const ImageVersion* highest(const Image& image) {
    return image.versions.empty() ? nullptr : &image.versions.back();
}

std::uint64_t bytes_from_store(const JsonFields& fields, std::string_view key) {
    return static_cast<std::uint64_t>(fields.integer(key).value_or(0));
}

Json version_to_json(const ImageVersion& version) {
    Json result = Json::object({
        {"version", version.version},
        {"fingerprint", version.fingerprint},
        {"size", version.size},
        {"created_at", to_unix_seconds(version.created_at)},
        {"status_code", static_cast<int>(version.status)},
        {"status", to_text(version.status)},
        {"remote_id", version.remote_id},
    });
    if (!version.error_message.empty()) result.set("error_message", version.error_message);
    return result;
}

Json version_to_store(const ImageVersion& version) {
    return Json::object({
        {"version", version.version},
        {"fingerprint", version.fingerprint},
        {"size", version.size},
        {"created_at", to_rfc3339(version.created_at)},
        {"status", to_text(version.status)},
        {"remote_id", version.remote_id},
        {"error_message", version.error_message},
        {"metadata", version.metadata.to_json()},
        {"root_size", version.root_size},
    });
}

ImageVersion image_version_from_store(const JsonFields& fields) {
    ImageVersion version;
    version.version = static_cast<int>(fields.require_int("version"));
    version.fingerprint = fields.require_string("fingerprint");
    version.size = bytes_from_store(fields, "size");
    version.created_at = from_rfc3339(fields.require_string("created_at"));
    const auto status = enum_value<ImageStatus>(status_names, fields.require_string("status"));
    version.status = status.value_or(ImageStatus::unknown);
    version.remote_id = fields.string("remote_id").value_or("");
    version.error_message = fields.string("error_message").value_or("");
    if (const auto metadata = fields.object("metadata"))
        version.metadata = ImageMetadata::from_json(metadata->value());
    version.root_size = bytes_from_store(fields, "root_size");
    return version;
}

}  // namespace

std::string_view to_text(ImageStatus status) {
    return enum_text<ImageStatus>(status_names, status);
}

ImageMetadata ImageMetadata::parse(const Json& document) {
    static const Json empty = Json::object();
    const JsonFields fields(document.is_null() ? empty : document);
    ImageMetadata metadata;
    metadata.architecture = fields.require_string("architecture");
    if (metadata.architecture != "x86_64" && metadata.architecture != "aarch64")
        throw_invalid("architecture", "must be x86_64 or aarch64");
    metadata.creation_date = fields.require_int("creation_date");
    if (metadata.creation_date < 0) throw_invalid("creation_date", "must not be negative");
    metadata.properties = text_properties(fields);
    metadata.image_variant = variant_property(metadata.properties);
    metadata.android = is_android_profile(metadata.properties);
    metadata.init = path_property(metadata.properties, "init");
    metadata.ready = ReadinessCheck{path_property(metadata.properties, "ready_file"),
                                    command_property(metadata.properties, "ready_command"),
                                    port_property(metadata.properties, "ready_port")};
    return metadata;
}

bool ImageMetadata::has_profile() const {
    return !property(properties, "profile").empty();
}

void add_guest_properties(const GuestImage& guest, Json& properties) {
    const auto add = [&properties](const char* key, const std::string& value) {
        if (!value.empty()) properties.set(key, value);
    };
    add("init", guest.init);
    add("variant", guest.image_variant);
    if (guest.android) add("profile", "android");
    add("ready_file", guest.ready->file);
    add("ready_command", guest.ready->command);
    if (guest.ready->port != 0) add("ready_port", std::to_string(guest.ready->port));
}

Json ImageMetadata::to_json() const {
    return Json::object({
        {"architecture", *architecture},
        {"creation_date", creation_date},
        {"variant", *image_variant},
        {"android", android},
        {"init", *init},
        {"ready",
         Json::object({{"file", ready->file}, {"command", ready->command}, {"port", int{ready->port}}})},
        {"properties", properties},
    });
}

ImageMetadata ImageMetadata::from_json(const Json& stored) {
    const JsonFields fields(stored);
    ImageMetadata metadata;
    metadata.architecture = fields.string("architecture").value_or("");
    metadata.creation_date = fields.integer("creation_date").value_or(0);
    metadata.image_variant = fields.string("variant").value_or("");
    metadata.android = fields.boolean("android").value_or(false);
    metadata.init = fields.string("init").value_or("");
    if (const auto ready = fields.object("ready")) {
        metadata.ready =
            ReadinessCheck{ready->string("file").value_or(""), ready->string("command").value_or(""),
                           static_cast<std::uint16_t>(ready->integer("port").value_or(0))};
    }
    if (const Json* properties = fields.raw("properties")) metadata.properties = *properties;
    return metadata;
}

ImageStatus Image::status() const {
    if (deleting) return ImageStatus::deleted;
    if (newest_active() != nullptr) return ImageStatus::active;
    const ImageVersion* last = highest(*this);
    return last == nullptr ? ImageStatus::unknown : last->status;
}

std::string Image::architecture() const {
    const ImageVersion* source = newest_active() != nullptr ? newest_active() : highest(*this);
    return source == nullptr ? std::string() : *source->metadata.architecture;
}

const ImageVersion* Image::version(int number) const {
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [number](const ImageVersion& v) { return v.version == number; });
    return found == versions.end() ? nullptr : &*found;
}

ImageVersion* Image::version(int number) {
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [number](const ImageVersion& v) { return v.version == number; });
    return found == versions.end() ? nullptr : &*found;
}

const ImageVersion* Image::newest_active() const {
    const auto found = std::find_if(versions.rbegin(), versions.rend(),
                                    [](const ImageVersion& v) { return v.status == ImageStatus::active; });
    return found == versions.rend() ? nullptr : &*found;
}

Json to_json(const Image& image, const std::vector<std::string>& used_by) {
    JsonArray versions;
    for (const ImageVersion& version : image.versions) versions.push_back(version_to_json(version));
    return Json::object({
        {"id", image.id.str()},
        {"name", image.name},
        {"versions", std::move(versions)},
        {"status_code", static_cast<int>(image.status())},
        {"status", to_text(image.status())},
        {"used_by", used_by.empty() ? Json() : Json(JsonArray(used_by.begin(), used_by.end()))},
        {"immutable", image.immutable},
        {"default", image.is_default},
        {"architecture", image.architecture()},
    });
}

Json image_to_store(const Image& image) {
    JsonArray versions;
    for (const ImageVersion& version : image.versions) versions.push_back(version_to_store(version));
    return Json::object({
        {"schema", image_schema},
        {"id", image.id.str()},
        {"name", image.name},
        {"versions", std::move(versions)},
        {"immutable", image.immutable},
        {"default", image.is_default},
        {"deleting", image.deleting},
        {"next_version", image.next_version},
        {"created_at", to_rfc3339(image.created_at)},
    });
}

Image image_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Image image;
    image.id = ImageId(fields.require_string("id"));
    image.name = fields.require_string("name");
    const auto versions = fields.objects("versions").value_or(std::vector<JsonFields>());
    for (const JsonFields& version : versions) image.versions.push_back(image_version_from_store(version));
    image.immutable = fields.boolean("immutable").value_or(false);
    image.is_default = fields.boolean("default").value_or(false);
    image.deleting = fields.boolean("deleting").value_or(false);
    image.next_version = static_cast<int>(fields.require_int("next_version"));
    image.created_at = from_rfc3339(fields.require_string("created_at"));
    return image;
}

ImageRequest ImageRequest::parse(std::string_view header) {
    ImageRequest request;
    if (trim(header).empty()) return request;
    const Json document = with_context("X-SVC-Request is malformed", [&] { return Json::parse(header); });
    if (document.is_null()) return request;
    if (!document.is_object())
        throw Error(ErrorCode::invalid_argument, "X-SVC-Request is malformed: must be an object");
    const JsonFields fields(document);
    request.name = fields.string("name").value_or("");
    if (!request.name.empty()) check_image_name("name", request.name);
    request.is_default = fields.boolean("default");
    return request;
}

ImagePatch ImagePatch::from_json(const Json& body) {
    ImagePatch patch;
    const JsonFields fields(body);
    patch.force_sync = fields.boolean("force_sync").value_or(false);
    patch.is_default = fields.boolean("default");
    return patch;
}

}  // namespace svc
