#include "libsvc/formats/oci_layout.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_document_bytes = std::size_t{4} << 20;
constexpr int max_nesting = 4;  // of indexes
constexpr std::array<std::string_view, 2> index_types{
    "application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"};

[[noreturn]] void refuse_layout(const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, "OCI image is malformed: " + reason);
}

// As OCI calls the processors.
std::string oci_architecture(const std::string& architecture) {
    if (architecture == "x86_64") return "amd64";
    if (architecture == "aarch64") return "arm64";
    return architecture;
}

class Layout {
  public:
    explicit Layout(std::filesystem::path directory) : directory_(std::move(directory)) {
        if (!std::filesystem::exists(directory_ / "oci-layout"))
            throw Error(ErrorCode::not_found,
                        quoted(directory_.string()) + " is no OCI image layout: it has no file oci-layout");
    }

    Json index() const {
        return parse("index.json", read_file(directory_ / "index.json", max_document_bytes));
    }

    Json document(const Json& descriptor) const {
        const std::string digest = digest_of(descriptor);
        const std::string text = read_file(path_of(digest), max_document_bytes);
        if (sha256_hex(text) != digest) refuse_layout("blob " + digest + " has another digest");
        return parse("blob " + digest, text);
    }

    std::filesystem::path layer(const Json& descriptor) const {
        check_layer_type(JsonFields(descriptor).string("mediaType").value_or(""));
        const std::string digest = digest_of(descriptor);
        std::filesystem::path path = path_of(digest);
        if (digest_of_file(path) != digest) refuse_layout("layer " + digest + " has another digest");
        return path;
    }

  private:
    static Json parse(const std::string& what, const std::string& text) {
        return with_context("OCI image is malformed: " + what, [&] { return Json::parse(text); });
    }

    static std::string digest_of(const Json& descriptor) {
        const std::string digest = JsonFields(descriptor).require_string("digest");
        constexpr std::string_view algorithm = "sha256:";
        if (!digest.starts_with(algorithm) || !is_sha256_hex(digest.substr(algorithm.size())))
            refuse_layout("digest " + quoted(digest) + " is not sha256");
        return digest.substr(algorithm.size());
    }

    static void check_layer_type(const std::string& type) {
        if (type.ends_with("tar") || type.ends_with("tar+gzip") || type.ends_with("tar.gzip")) return;
        throw Error(ErrorCode::invalid_argument,
                    "a layer of the OCI image is of the type " + quoted(type) +
                        ", which is not supported: skopeo copy --dest-compress-format gzip converts it");
    }

    static std::string digest_of_file(const std::filesystem::path& path) {
        const FileDescriptor file = open_file(path, O_RDONLY);
        Sha256 digest;
        std::string block(std::size_t{1} << 20, '\0');
        for (;;) {
            const ssize_t got = ::read(file.get(), block.data(), block.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw system_error("cannot read " + quoted(path.string()), errno);
            if (got == 0) return digest.hex();
            digest.update(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
        }
    }

    std::filesystem::path path_of(const std::string& digest) const {
        return directory_ / "blobs" / "sha256" / digest;
    }

    std::filesystem::path directory_;
};

// The manifests of an index, and of the indexes in it.
void list_manifests(const Layout& layout, const Json& index, int depth, std::vector<Json>& found) {
    if (depth > max_nesting) refuse_layout("its indexes are nested too deeply");
    for (const JsonFields& descriptor :
         JsonFields(index).objects("manifests").value_or(std::vector<JsonFields>())) {
        const std::string type = descriptor.string("mediaType").value_or("");
        if (std::ranges::find(index_types, type) != index_types.end())
            list_manifests(layout, layout.document(descriptor.value()), depth + 1, found);
        else
            found.push_back(descriptor.value());
    }
}

// Whether a descriptor says that its image is for another platform.
bool is_for_other(const Json& descriptor, const std::string& architecture) {
    const auto platform = JsonFields(descriptor).object("platform");
    if (!platform) return false;
    return platform->string("os").value_or("linux") != "linux" ||
           platform->string("architecture").value_or(architecture) != architecture;
}

std::string require_linux(const JsonFields& config) {
    const std::string os = config.string("os").value_or("");
    if (os != "linux") throw Error(ErrorCode::invalid_argument, "the OCI image is for " + quoted(os));
    return config.require_string("architecture");
}

void read_command(const JsonFields& config, OciImage& image) {
    const auto settings = config.object("config");
    if (!settings) return;
    const auto list = [&](const char* key) {
        return settings->strings(key).value_or(std::vector<std::string>());
    };
    image.arguments = list("Entrypoint");
    for (std::string& word : list("Cmd")) image.arguments.push_back(std::move(word));
    image.environment = list("Env");
    image.directory = settings->string("WorkingDir").value_or("");
    image.user = settings->string("User").value_or("");
    image.stop_signal = settings->string("StopSignal").value_or("");
}

// Of "2026-11-27T10:00:00.123Z": fractions and an offset from UTC do not matter here.
std::int64_t created_at(const JsonFields& config) {
    tm time{};
    const std::string text = config.string("created").value_or("");
    if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr) return 0;
    return std::max<std::int64_t>(::timegm(&time), 0);
}

OciImage read_image(const Layout& layout, const Json& manifest, const Json& config) {
    OciImage image;
    const JsonFields fields(config);
    read_command(fields, image);
    image.created = created_at(fields);
    for (const JsonFields& layer : JsonFields(manifest).objects("layers").value_or(std::vector<JsonFields>()))
        image.layers.push_back(layout.layer(layer.value()));
    if (image.layers.empty()) refuse_layout("it has no layers");
    return image;
}

std::string platforms_text(const std::vector<std::string>& offered) {
    return offered.empty() ? "nothing" : join(offered, ", ");
}

}  // namespace

OciImage read_oci_layout(const std::filesystem::path& directory, const std::string& architecture) {
    const Layout layout(directory);
    const std::string wanted = oci_architecture(architecture);
    std::vector<Json> descriptors;
    list_manifests(layout, layout.index(), 0, descriptors);
    std::vector<std::string> others;
    std::vector<std::pair<Json, Json>> fitting;  // manifest, config
    for (const Json& descriptor : descriptors) {
        if (is_for_other(descriptor, wanted)) continue;
        Json manifest = layout.document(descriptor);
        const Json* const reference = JsonFields(manifest).raw("config");
        if (reference == nullptr) refuse_layout("a manifest names no config");
        Json config = layout.document(*reference);
        if (const std::string is_for = require_linux(JsonFields(config)); is_for != wanted)
            others.push_back(is_for);
        else
            fitting.emplace_back(std::move(manifest), std::move(config));
    }
    if (fitting.empty())
        throw Error(ErrorCode::invalid_argument, quoted(directory.string()) + " has no image for " + wanted +
                                                     ", but for " + platforms_text(others));
    if (fitting.size() > 1)
        throw Error(
            ErrorCode::invalid_argument,
            quoted(directory.string()) +
                " holds several images: copy one of them to a layout of its own, for example with skopeo");
    OciImage image = read_image(layout, fitting.front().first, fitting.front().second);
    image.architecture = architecture;
    return image;
}

}  // namespace svc
