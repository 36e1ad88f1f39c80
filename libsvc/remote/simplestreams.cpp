#include "libsvc/remote/simplestreams.h"

#include <algorithm>
#include <array>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr std::size_t max_streams = 100, max_products = 10'000, max_product_versions = 1000, max_items = 100;
constexpr std::size_t max_path = 1024, max_text = 256, max_aliases = 100;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

const JsonMembers& members(const JsonFields& fields, std::string_view key, std::size_t at_most) {
    const Json* const value = fields.raw(key);
    if (value == nullptr || !value->is_object()) throw_invalid(fields.path_of(key), "must be an object");
    if (value->as_object().size() > at_most) throw_invalid(fields.path_of(key), "has too many items");
    return value->as_object();
}

std::string short_text(const JsonFields& fields, std::string_view key) {
    std::string text = fields.string(key).value_or("");
    if (text.size() > max_text || has_control_characters(text))
        throw_invalid(fields.path_of(key), "is too long or has control characters");
    return text;
}

std::string server_path(const JsonFields& fields) {
    std::string path = fields.require_string("path");
    try {
        check_server_path(path);
    } catch (const Error&) {
        throw_invalid(fields.path_of("path"), "must be a relative path without ..");
    }
    return path;
}

std::string architecture_of(const std::string& arch) {
    if (arch == "amd64" || arch == "x86_64") return "x86_64";
    if (arch == "arm64" || arch == "aarch64") return "aarch64";
    return "";  // not ours
}

bool is_image_name(std::string_view text) {
    try {
        check_image_name("name", text);
        return true;
    } catch (const Error&) {
        return false;
    }
}

// How much a kind of file looks like one tarball of metadata.yaml and rootfs: 0 not at all.
int usefulness(const std::string& ftype) {
    const auto tar = ftype.find(".tar.");
    if (tar == std::string::npos || tar == 0) return 0;
    const std::string end = ftype.substr(tar), stem = ftype.substr(0, tar);
    if (end != ".tar.gz" && end != ".tar.xz" && end != ".tar.bz2") return 0;
    if (stem == "svc") return 4;
    if (stem == "svc_combined") return 3;
    if (stem.ends_with("combined")) return 2;
    constexpr std::array<std::string_view, 6> halves{"lxd", "incus", "root", "rootfs", "metadata", "disk"};
    const bool half = std::find(halves.begin(), halves.end(), stem) != halves.end();
    return half || stem.ends_with("root") || stem.ends_with("rootfs") ? 0 : 1;
}

// The one item of a version that we take; null when there is none.
const Json* best_item(const JsonFields& version) {
    const Json* best = nullptr;
    int best_value = 0;
    for (const auto& [name, item] : members(version, "items", max_items)) {
        const int value = usefulness(short_text(JsonFields(item, version.path_of("items." + name)), "ftype"));
        if (value <= best_value) continue;
        best = &item;
        best_value = value;
    }
    return best;
}

void read_item(const JsonFields& item, OfferedImage& image) {
    image.path = server_path(item);
    image.fingerprint = to_lower(item.require_string("sha256"));
    if (!is_sha256_hex(image.fingerprint))
        throw_invalid(item.path_of("sha256"), "must be 64 hexadecimal digits");
    const auto size = item.require_int("size");
    if (size <= 0) throw_invalid(item.path_of("size"), "must be positive");
    image.size = static_cast<std::uint64_t>(size);
}

std::vector<std::string> read_aliases(const JsonFields& product) {
    std::vector<std::string> aliases;
    for (const auto& part : split(product.string("aliases").value_or(""), ',')) {
        const std::string alias(trim(part));
        if (aliases.size() < max_aliases && is_image_name(alias)) aliases.push_back(alias);
    }
    return aliases;
}

// What all versions of a product have in common. Nothing for what cannot be used here.
std::optional<OfferedImage> read_common(const JsonFields& product, const std::string& name) {
    OfferedImage image;
    image.architecture = architecture_of(short_text(product, "arch"));
    image.aliases = read_aliases(product);
    image.name = image.aliases.empty() ? name : image.aliases.front();
    image.release = short_text(product, "release_version");
    if (image.architecture.empty() || !is_image_name(image.name)) return std::nullopt;
    return image;
}

void read_product(const JsonFields& product, const std::string& name, std::vector<OfferedImage>& into) {
    const auto common = read_common(product, name);
    if (!common) return;
    std::vector<OfferedImage> found;
    for (const auto& [number, value] : members(product, "versions", max_product_versions)) {
        const JsonFields version(value, product.path_of("versions." + number));
        const Json* const item = best_item(version);
        if (item == nullptr) continue;
        OfferedImage image = *common;
        image.version = number;
        if (number.empty() || number.size() > max_text || has_control_characters(number))
            throw_invalid(product.path_of("versions"), "has an invalid key");
        if (const auto own = short_text(version, "release_version"); !own.empty()) image.release = own;
        read_item(JsonFields(*item, version.path_of("items")), image);
        found.push_back(std::move(image));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return is_older(a.version, b.version); });
    std::move(found.begin(), found.end(), std::back_inserter(into));
}

}  // namespace

void check_server_path(std::string_view path) {
    const auto parts = split(path, '/');
    const bool clean =
        !parts.empty() && std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
            return part.empty() || part == "." || part == "..";
        });
    if (!clean || path.size() > max_path || has_control_characters(path) || path.find('\\') != path.npos)
        throw Error(ErrorCode::invalid_argument, "path " + quoted(path) + " of the image server is invalid");
}

bool is_older(std::string_view a, std::string_view b) {
    std::size_t i = 0, j = 0;
    const auto number = [](std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t begin = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(begin, at - begin);
    };
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const auto left = number(a, i), right = number(b, j);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i, ++j;
        }
    }
    return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

std::vector<std::string> read_index(std::string_view text) {
    const Json document = Json::parse(text);
    const JsonFields index(document);
    std::vector<std::string> paths;
    for (const auto& [name, value] : members(index, "index", max_streams)) {
        const JsonFields stream(value, "index." + name);
        if (stream.string("datatype").value_or("") != "image-downloads") continue;
        if (stream.string("format").value_or("products:1.0") != "products:1.0") continue;
        paths.push_back(server_path(stream));
    }
    return paths;
}

std::vector<OfferedImage> read_products(std::string_view text) {
    const Json document = Json::parse(text);
    const JsonFields file(document);
    if (file.require_string("format") != "products:1.0") throw_invalid("format", "must be products:1.0");
    std::vector<OfferedImage> images;
    for (const auto& [name, value] : members(file, "products", max_products))
        read_product(JsonFields(value, "products." + std::string(quoted(name))), name, images);
    return images;
}

}  // namespace svc
