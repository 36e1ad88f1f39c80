#include "libsvc/runtime/lxd/images.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/formats/block_compressor.h"
#include "libsvc/formats/entry_path.h"
#include "libsvc/runtime/lxc/container/config.h"

namespace svc::lxd {

namespace {

constexpr std::size_t copy_bytes = 256U << 10;
constexpr const char* aliases_path = "/1.0/images/aliases";

constexpr const char* service_property = "svc.service";  // whose image it is
constexpr const char* member_property = "svc.member";    // and which member of a cluster has made it

Error layer_not_found(std::string_view name) {
    return {ErrorCode::not_found, fmt::format("layer '{}' not found", name)};
}

void check_go_on(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "the work on a layer was cancelled");
}

// The path itself or a folder above it is among `paths`.
bool lies_in(const std::set<std::string>& paths, const std::string& path) {
    for (std::size_t end = path.size(); end != std::string::npos; end = path.rfind('/', end - 1)) {
        if (paths.contains(path.substr(0, end))) return true;
        if (end == 0) return false;
    }
    return false;
}

}  // namespace

// The tree `rootfs` of an archive as an image's archive, made while it is read.
class Images::Repacked final : public ArchiveStream {
  public:
    Repacked(Source source, const ArchiveLimits& limits, std::shared_ptr<void> held = nullptr)
        : source_(std::move(source)),
          limits_(limits),
          held_(std::move(held)),
          reader_(source_.file, ArchiveFormat::tar, limits.expansion),
          writer_(std::make_unique<BlockCompressor>(source_.compression)) {
        ArchiveEntry entry;
        entry.path = "metadata.yaml";
        entry.kind = EntryKind::file;
        entry.mode = 0644;
        entry.size = source_.metadata.size();
        entry.modified = timespec{};
        writer_.begin(entry);
        writer_.write(source_.metadata);
    }

    std::string read(std::size_t at_most) override {
        while (writer_.ready() < at_most && !finished_) advance();
        return writer_.take(at_most);
    }
    std::string format() const override { return "image, " + writer_.format(); }
    std::uint64_t bytes() const { return bytes_; }
    const ArchiveReader& reader() const { return reader_; }
    bool has_root() const { return entries_ > 0; }

  private:
    void advance() {
        ArchiveEntry entry;
        if (!reader_.next(entry)) {
            writer_.finish();
            finished_ = true;
            return;
        }
        if (takes(entry)) copy(entry);
    }

    bool takes(ArchiveEntry& entry) {
        const std::string written = entry.path;
        entry.path = clean_entry_path(entry.path, written);
        if (entry.path != "rootfs" && !entry.path.starts_with("rootfs/")) return false;
        if (lies_in(source_.left_out, entry.path)) return false;
        if (lies_in(links_, entry.path)) refuse(written, "lies beneath a link");
        if (entry.kind == EntryKind::symbolic_link) links_.insert(entry.path);
        if (entry.path == "rootfs" && entry.kind != EntryKind::directory) refuse(written, "is no folder");
        if (entry.kind == EntryKind::hard_link) {
            entry.link_target = clean_entry_path(entry.link_target, written);
            if (!entry.link_target.starts_with("rootfs/")) refuse(written, "leads out of the tree");
            if (lies_in(links_, entry.link_target)) refuse(written, "leads to a link");
            if (lies_in(source_.left_out, entry.link_target)) return false;
        }
        if (entry.kind != EntryKind::other) return true;
        if (source_.hostile) refuse(written, "is a device");
        return false;
    }

    [[noreturn]] static void refuse(const std::string& path, std::string_view why) {
        throw Error(ErrorCode::invalid_argument, fmt::format("archive entry {} {}", quoted(path), why));
    }

    void copy(const ArchiveEntry& entry) {
        bytes_ += entry.kind == EntryKind::file ? entry.size : 0;
        if (++entries_ > limits_.max_entries || bytes_ > limits_.max_bytes)
            throw Error(ErrorCode::invalid_argument, "archive unpacks to more than is allowed");
        writer_.begin(entry);
        if (entry.kind != EntryKind::file) return;
        std::uint64_t at = 0;
        while (const auto block = reader_.next_block()) {
            fill(block->offset - at);
            writer_.write(block->bytes);
            at = block->offset + block->bytes.size();
        }
        fill(entry.size - at);
    }

    void fill(std::uint64_t zeros) {
        for (; zeros > 0; zeros -= std::min<std::uint64_t>(zeros, copy_bytes))
            writer_.write(std::string(std::min<std::uint64_t>(zeros, copy_bytes), '\0'));
    }

    const Source source_;
    const ArchiveLimits limits_;
    std::shared_ptr<void> held_;
    ArchiveReader reader_;
    ArchiveWriter writer_;
    std::set<std::string> links_;
    std::uint64_t bytes_ = 0, entries_ = 0;
    bool finished_ = false;
};

// LXD refuses an image without the first two. Properties are never sent beside it: LXD 5.0.2 dies of that
// where this file has none.
std::string Images::metadata() const {
    utsname system{};
    ::uname(&system);
    return fmt::format("architecture: {}\ncreation_date: 1\nproperties:\n  {}: '{}'\n  {}: '{}'\n",
                       static_cast<const char*>(system.machine), service_property, options_.network.bridge,
                       member_property, instances_.member());
}

Images::Images(Connection& lxd, Instances& instances, const LxdOptions& options)
    : lxd_(lxd), instances_(instances), options_(options) {
    remove_tree(options_.state_dir / "archives");
    make_directories(options_.state_dir / "archives");
    remove_leftovers();
}

// Images of this daemon that a crash has left without an alias.
void Images::remove_leftovers() {
    const Json records = lxd_.get("/1.0/images?recursion=1");
    for (const Json& record : records.as_array()) {
        const Json& properties = record.at("properties");
        if (!record.at("aliases").as_array().empty() || !properties.is_object() ||
            text_of(properties, service_property) != options_.network.bridge ||
            text_of(properties, member_property) != instances_.member())
            continue;
        lxd_.remove("/1.0/images/" + text_of(record, "fingerprint"));
    }
}

// The bridge's name tells the services of one LXD apart.
std::string Images::alias(std::string_view name) const {
    return fmt::format("{}.{}", options_.network.bridge, name);
}

Images::Layer Images::get(const std::string& name) {
    const auto record = lxd_.find(fmt::format("{}/{}", aliases_path, percent_encode(alias(name))));
    if (!record) throw layer_not_found(name);
    const Json described = Json::parse(text_of(*record, "description"));
    const JsonFields fields(described);
    return {text_of(*record, "target"), fields.strings("below").value_or(std::vector<std::string>{}),
            static_cast<std::uint64_t>(fields.require_int("bytes"))};
}

bool Images::contains(std::string_view name) {
    return lxd_.find(fmt::format("{}/{}", aliases_path, percent_encode(alias(name)))).has_value();
}

std::uint64_t Images::size(std::string_view name) {
    return get(std::string(name)).bytes;
}

std::vector<std::string> Images::list() {
    std::vector<std::string> names;
    const std::string prefix = alias("");
    const Json aliases = lxd_.get(std::string(aliases_path) + "?recursion=1");
    for (const Json& record : aliases.as_array())
        if (const std::string name = text_of(record, "name"); name.starts_with(prefix))
            names.push_back(name.substr(prefix.size()));
    std::sort(names.begin(), names.end());
    return names;
}

std::string Images::image_of(const std::vector<std::string>& layers) {
    if (layers.empty()) throw Error(ErrorCode::invalid_argument, "layers are required");
    for (const std::string& name : layers)
        if (!contains(name)) throw layer_not_found(name);
    const Layer top = get(layers.back());
    if (top.below != std::vector<std::string>(layers.begin(), layers.end() - 1))
        throw Error(ErrorCode::unsupported,
                    fmt::format("layer '{}' was not made on top of the other layers", layers.back()));
    return top.image;
}

std::shared_ptr<void> Images::hold(const std::vector<std::string>& layers) {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : layers)
        if (!contains(name)) throw layer_not_found(name);
    for (const std::string& name : layers) ++held_[name];
    return {nullptr, [this, layers](void*) {
                const std::lock_guard again(mutex_);
                for (const std::string& name : layers)
                    if (--held_[name] == 0) held_.erase(name);
            }};
}

// Writes the image's file, then imports it, then gives it the alias: an image without one is a leftover.
void Images::keep(const std::string& name, const Source& source, const std::vector<std::string>& below,
                  const Progress& progress) {
    const TemporaryDirectory folder(options_.state_dir / "archives");
    const std::filesystem::path path = folder.path() / "image";
    FileDescriptor file = open_file(path, O_RDWR | O_CREAT | O_EXCL);
    Repacked packed(source, options_.layer_limits.unpacked);
    Sha256 digest;
    for (std::string part = packed.read(copy_bytes); !part.empty(); part = packed.read(copy_bytes)) {
        check_go_on(progress.stop);
        digest.update(part);
        write_all(file.get(), part);
        if (progress.report) progress.report(packed.reader().bytes_read(), packed.reader().file_size());
    }
    if (!packed.has_root()) throw Error(ErrorCode::invalid_argument, "archive has no folder 'rootfs'");
    const std::string image = digest.hex();
    if (!lxd_.find("/1.0/images/" + image)) {
        ClientRequest request;
        request.method = Method::post;
        request.path = "/1.0/images";
        request.headers.set("Content-Type", "application/octet-stream");
        request.length = std::filesystem::file_size(path);
        std::uint64_t sent = 0;
        request.source = [&](std::size_t at_most) {
            check_go_on(progress.stop);
            std::string part(std::min<std::size_t>(at_most, copy_bytes), '\0');
            const ssize_t got = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(sent));
            if (got < 0) throw system_error("cannot read an image", errno);
            part.resize(static_cast<std::size_t>(got));
            sent += part.size();
            return part;
        };
        upload_image(request, image);
    }
    Json names = Json::array();
    for (const std::string& layer : below) names.push_back(layer);
    const Json description = Json::object({{"below", std::move(names)}, {"bytes", packed.bytes()}});
    name_image(name, image, description.dump());
}

// A cluster of which a member is gone has the image, and says that it failed.
void Images::upload_image(const ClientRequest& request, const std::string& image) {
    try {
        lxd_.upload(request);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::cancelled || !lxd_.find("/1.0/images/" + image)) throw;
    }
}

// Another member of the cluster may have made the layer meanwhile: its image is as good.
void Images::name_image(const std::string& name, const std::string& image, const std::string& description) {
    try {
        lxd_.change(Method::post, aliases_path,
                    Json::object({{"name", alias(name)}, {"target", image}, {"description", description}}));
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict || !contains(name)) throw;
        drop_image(image);
    }
}

void Images::add(std::string_view name, const std::filesystem::path& package, const Progress& progress) {
    check_go_on(progress.stop);
    if (contains(name)) return;
    Source source;
    source.file = package;
    source.hostile = true;
    source.metadata = metadata();
    keep(std::string(name), source, {}, progress);
}

void Images::remove(std::string_view text) {
    const std::string name(text);
    const std::lock_guard lock(mutex_);
    bool used = held_.contains(name);
    for (const Instance& instance : instances_.all_of_cluster())
        used = used ||
               std::count(instance.stored.spec.layers.begin(), instance.stored.spec.layers.end(), name) > 0;
    if (used) throw Error(ErrorCode::busy, fmt::format("layer '{}' is in use by a container", name));
    if (!contains(name)) return;
    const std::string image = get(name).image;
    lxd_.remove(fmt::format("{}/{}", aliases_path, percent_encode(alias(name))));
    drop_image(image);
}

// Unless another layer has the same bytes.
void Images::drop_image(const std::string& image) {
    const auto record = lxd_.find("/1.0/images/" + image);
    if (record && record->at("aliases").as_array().empty()) lxd_.remove("/1.0/images/" + image);
}

void Images::download(const std::string& image, const std::filesystem::path& path) {
    const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    ClientRequest request;
    request.path = "/1.0/images/" + image + "/export";
    request.sink = [&](std::string_view part) { write_all(file.get(), part); };
    lxd_.send(request);
}

void Images::publish(const std::string& name, const Instance& instance,
                     const std::vector<std::string>& leave_out, std::stop_token stop) {
    const TemporaryDirectory folder(options_.state_dir / "archives");
    const Json published =
        lxd_.change(Method::post, "/1.0/images",
                    Json::object({{"source", Json::object({{"type", "instance"}, {"name", instance.name}})},
                                  {"properties", Json::object({{service_property, options_.network.bridge},
                                                               {member_property, instances_.member()}})},
                                  {"compression_algorithm", "none"}}));
    const std::string image = text_of(published, "fingerprint");
    Rollback temporary;
    temporary.add("published image", [&] { lxd_.remove("/1.0/images/" + image); });
    Source source;
    source.file = folder.path() / "published";
    source.metadata = metadata();
    for (const std::string& path : leave_out) source.left_out.insert("rootfs" + path);
    for (const std::string& path : instance.stored.placed) source.left_out.insert("rootfs" + path);
    for (const std::string_view path : {lxc::agent_path, lxc::socket_dir_path})
        source.left_out.insert("rootfs/" + std::string(path));
    download(image, source.file);
    Progress progress;
    progress.stop = std::move(stop);
    keep(name, source, instance.stored.spec.layers, progress);
}

void Images::capture(std::string_view name, std::string_view container,
                     const std::vector<std::string>& leave_out) {
    const bool made = contains(name);
    if (made && !instances_.find(container)) return;
    const Instance instance = instances_.idle(container);
    if (!made) publish(std::string(name), instance, leave_out, {});
    instances_.set(container, captured_key, "true");
}

void Images::snapshot(std::string_view name, std::string_view container,
                      const std::vector<std::string>& leave_out, std::stop_token stop) {
    if (contains(name)) return;
    check_go_on(stop);
    publish(std::string(name), instances_.idle(container), leave_out, std::move(stop));
}

void Images::restore(std::string_view name, std::string_view container, std::stop_token stop) {
    const Layer layer = get(std::string(name));
    const auto held = hold({std::string(name)});
    const Instance instance = instances_.idle(container);
    check_go_on(stop);
    instances_.replace_disk(instance, layer.image);
}

std::unique_ptr<ArchiveStream> Images::export_archive(const ExportRequest& request) {
    auto held = hold(request.layers);
    const TemporaryDirectory folder(options_.state_dir / "archives");
    Source source;
    source.file = folder.path() / "image";
    source.metadata = request.metadata;
    source.compression = request.compression;
    download(image_of(request.layers), source.file);
    return std::make_unique<Repacked>(std::move(source), options_.layer_limits.unpacked, std::move(held));
}

}  // namespace svc::lxd
