#include "libsvc/formats/oci/layout.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <set>
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
constexpr std::size_t max_documents = 1000;
constexpr std::size_t max_layers = 500;
constexpr std::array<std::string_view, 2> index_types{
    "application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr std::array<std::string_view, 2> config_types{"application/vnd.oci.image.config.v1+json",
                                                       "application/vnd.docker.container.image.v1+json"};

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
        constexpr std::array<std::string_view, 5> known{"tar", "tar+gzip", "tar.gzip", "tar+zstd",
                                                        "tar.zstd"};
        if (std::ranges::any_of(known, [&](std::string_view end) { return type.ends_with(end); })) return;
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

// The manifests of an index, and of the indexes in it: each once, by however many tags it is known.
class ManifestList {
  public:
    explicit ManifestList(const Layout& layout) : layout_(layout) { add_all(layout.index(), 0); }
    const std::vector<Json>& descriptors() const { return found_; }

  private:
    void add_all(const Json& index, int depth) {
        if (depth > max_nesting) refuse_layout("its indexes are nested too deeply");
        for (const JsonFields& descriptor :
             JsonFields(index).objects("manifests").value_or(std::vector<JsonFields>()))
            add(descriptor, depth);
    }
    void add(const JsonFields& descriptor, int depth) {
        if (!digests_.insert(descriptor.require_string("digest")).second) return;
        if (digests_.size() > max_documents)
            refuse_layout("its indexes name more than " + std::to_string(max_documents) + " documents");
        const std::string type = descriptor.string("mediaType").value_or("");
        if (std::ranges::find(index_types, type) != index_types.end())
            add_all(layout_.document(descriptor.value()), depth + 1);
        else
            found_.push_back(descriptor.value());
    }

    const Layout& layout_;
    std::set<std::string> digests_;
    std::vector<Json> found_;
};

struct Platform {
    std::string os, architecture;
    std::string name() const { return os == "linux" ? architecture : os + "/" + architecture; }
};

// What a descriptor, or the config of an image, says.
Platform platform_of(const JsonFields& fields, const Platform& otherwise) {
    return {fields.string("os").value_or(otherwise.os),
            fields.string("architecture").value_or(otherwise.architecture)};
}

bool is_image(const JsonFields& manifest, const JsonFields& config) {
    const std::string type = config.string("mediaType").value_or("");
    const bool is_config = type.empty() || std::ranges::find(config_types, type) != config_types.end();
    return is_config && !manifest.string("artifactType");
}

void read_command(const JsonFields& config, OciImage& image) {
    const auto settings = config.object("config");
    if (!settings) return;
    const auto list = [&](const char* key) {
        return settings->strings(key).value_or(std::vector<std::string>());
    };
    image.command.arguments = list("Entrypoint");
    for (std::string& word : list("Cmd")) image.command.arguments.push_back(std::move(word));
    image.command.environment = list("Env");
    image.command.directory = settings->string("WorkingDir").value_or("");
    image.command.user = settings->string("User").value_or("");
    image.command.stop_signal = settings->string("StopSignal").value_or("");
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
    const auto layers = JsonFields(manifest).objects("layers").value_or(std::vector<JsonFields>());
    if (layers.empty()) refuse_layout("it has no layers");
    if (layers.size() > max_layers)
        refuse_layout("it has more than " + std::to_string(max_layers) + " layers");
    for (const JsonFields& layer : layers) image.layers.push_back(layout.layer(layer.value()));
    return image;
}

// The images for one platform; what else there is besides them.
class Choice {
  public:
    Choice(const Layout& layout, std::string architecture)
        : layout_(layout), wanted_{"linux", std::move(architecture)} {}

    // Attestations and other artifacts are passed over.
    void offer(const Json& descriptor) {
        if (const auto platform = JsonFields(descriptor).object("platform");
            platform && !is_wanted(platform_of(*platform, wanted_)))
            return;
        Json manifest = layout_.document(descriptor);
        const auto reference = JsonFields(manifest).object("config");
        if (!reference) refuse_layout("a manifest names no config");
        if (!is_image(JsonFields(manifest), *reference)) return;
        Json config = layout_.document(reference->value());
        if (is_wanted(platform_of(JsonFields(config), {"unknown", "unknown"})))
            fitting_.emplace_back(std::move(manifest), std::move(config));
    }

    OciImage only(const std::filesystem::path& directory) const {
        if (fitting_.empty())
            throw Error(ErrorCode::invalid_argument,
                        quoted(directory.string()) + " has no image for " + wanted_.name() + others_text());
        if (fitting_.size() > 1)
            throw Error(ErrorCode::invalid_argument,
                        quoted(directory.string()) +
                            " holds several images: copy one of them to a layout "
                            "of its own, for example with skopeo");
        return read_image(layout_, fitting_.front().first, fitting_.front().second);
    }

  private:
    bool is_wanted(const Platform& platform) {
        const bool wanted = platform.name() == wanted_.name();
        if (!wanted && platform.os != "unknown") others_.insert(platform.name());
        return wanted;
    }
    std::string others_text() const {
        return others_.empty() ? "" : ", but for " + join({others_.begin(), others_.end()}, ", ");
    }

    const Layout& layout_;
    Platform wanted_;
    std::set<std::string> others_;
    std::vector<std::pair<Json, Json>> fitting_;  // manifest, config
};

}  // namespace

OciImage read_oci_layout(const std::filesystem::path& directory, const std::string& architecture) {
    const Layout layout(directory);
    Choice choice(layout, oci_architecture(architecture));
    const ManifestList manifests(layout);
    for (const Json& descriptor : manifests.descriptors()) choice.offer(descriptor);
    OciImage image = choice.only(directory);
    image.architecture = architecture;
    return image;
}

}  // namespace svc
