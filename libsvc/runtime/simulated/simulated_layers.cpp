#include "libsvc/runtime/simulated/simulated_layers.h"

#include <charconv>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/base/unfinished_files.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/archive_writer.h"
#include "libsvc/formats/block_compressor.h"

namespace svc {

namespace {

constexpr std::size_t max_metadata_bytes = 1U << 20;

void throw_if_stopped(const LayerStore::Progress& progress) {
    if (progress.stop.stop_requested()) throw Error(ErrorCode::cancelled, "unpacking was cancelled");
}

// Reads the whole package, so that a truncated one is refused.
void check_package(const std::filesystem::path& package) {
    bool searched_all = false;
    const auto metadata = read_archive_member(package, "metadata.yaml", max_metadata_bytes,
                                              std::numeric_limits<std::uint64_t>::max(), &searched_all);
    if (!metadata) throw Error(ErrorCode::invalid_argument, "metadata.yaml not found");
}

void write_entry(ArchiveWriter& writer, const std::string& path, EntryKind kind, std::string_view content) {
    ArchiveEntry entry;
    entry.path = path;
    entry.kind = kind;
    entry.size = content.size();
    entry.mode = kind == EntryKind::directory ? 0755 : 0644;
    entry.modified = timespec{0, 0};
    writer.begin(entry);
    writer.write(content);
}

class SimulatedArchive final : public ArchiveStream {
  public:
    SimulatedArchive(SimulatedLayers& layers, const ExportRequest& request)
        : layers_(layers),
          held_(request.layers),
          writer_(std::make_unique<BlockCompressor>(request.compression)) {
        write_entry(writer_, "metadata.yaml", EntryKind::file, request.metadata);
        write_entry(writer_, "rootfs", EntryKind::directory, "");
        write_entry(writer_, "rootfs/layers", EntryKind::file, join(request.layers, "\n") + "\n");
        writer_.finish();
        layers_.hold(held_);
    }
    ~SimulatedArchive() override { layers_.drop(held_); }
    std::string read(std::size_t at_most) override { return writer_.take(at_most); }
    std::string format() const override { return "simulated, " + writer_.format(); }

  private:
    SimulatedLayers& layers_;
    std::vector<std::string> held_;
    ArchiveWriter writer_;
};

constexpr std::string_view packed_head = "simulated layer of bytes: ";
constexpr std::size_t most_packed = 100;

class PackedSimulation final : public ArchiveStream {
  public:
    PackedSimulation(SimulatedLayers& layers, const std::string& name) : layers_(layers), held_{name} {
        layers_.hold(held_);
        rest_ = std::string(packed_head) + std::to_string(layers_.size(name)) + "\n";
    }
    ~PackedSimulation() override { layers_.drop(held_); }
    PackedSimulation(const PackedSimulation&) = delete;
    PackedSimulation& operator=(const PackedSimulation&) = delete;
    std::string read(std::size_t at_most) override {
        std::string piece = rest_.substr(0, at_most);
        rest_.erase(0, piece.size());
        return piece;
    }

  private:
    SimulatedLayers& layers_;
    std::vector<std::string> held_;
    std::string rest_;
};

std::uint64_t packed_size(const std::string& text) {
    std::uint64_t bytes = 0;
    if (text.starts_with(packed_head) && text.ends_with('\n')) {
        const char* const last = text.data() + text.size() - 1;
        const auto [end, error] = std::from_chars(text.data() + packed_head.size(), last, bytes);
        if (error == std::errc() && end == last) return bytes;
    }
    throw Error(ErrorCode::invalid_argument, "packed layer is malformed");
}

}  // namespace

SimulatedLayers::SimulatedLayers(std::filesystem::path directory, std::uint64_t changed_bytes,
                                 std::function<void(std::string_view)> check_idle)
    : directory_(std::move(directory)), changed_bytes_(changed_bytes), check_idle_(std::move(check_idle)) {
    if (directory_.empty()) return;
    make_directories(directory_);
    remove_unfinished_files(directory_);
    load();
}

void SimulatedLayers::load() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
        const std::string text = read_file(entry.path());
        Layer layer;
        std::from_chars(text.data(), text.data() + text.size(), layer.bytes);
        layers_.emplace(entry.path().filename().string(), layer);
    }
}

void SimulatedLayers::add(std::string_view name, const std::filesystem::path& package,
                          const Progress& progress) {
    if (contains(name)) return;
    throw_if_stopped(progress);
    check_package(package);
    throw_if_stopped(progress);
    const std::uint64_t bytes = std::filesystem::file_size(package);
    if (progress.report) progress.report(bytes, bytes);
    keep(name, bytes);
}

void SimulatedLayers::keep(std::string_view name, std::uint64_t bytes) {
    if (!directory_.empty()) write_file_atomically(directory_ / std::string(name), std::to_string(bytes));
    std::lock_guard lock(mutex_);
    layers_.emplace(name, Layer{bytes, 0});
}

void SimulatedLayers::capture(std::string_view name, std::string_view container,
                              const std::vector<std::string>&) {
    if (contains(name)) return;
    check_idle_(container);
    keep(name, changed_bytes_);
}

void SimulatedLayers::snapshot(std::string_view name, std::string_view container,
                               const std::vector<std::string>& leave_out, std::stop_token) {
    capture(name, container, leave_out);
}

void SimulatedLayers::restore(std::string_view name, std::string_view container, std::stop_token) {
    size(name);  // throws for an unknown one
    check_idle_(container);
}

std::unique_ptr<ArchiveStream> SimulatedLayers::export_archive(const ExportRequest& request) {
    if (request.layers.empty()) throw Error(ErrorCode::invalid_argument, "layers are required");
    return std::make_unique<SimulatedArchive>(*this, request);
}

void SimulatedLayers::remove(std::string_view name) {
    std::lock_guard lock(mutex_);
    const auto found = layers_.find(name);
    if (found == layers_.end()) return;
    if (found->second.users > 0)
        throw Error(ErrorCode::busy, "layer " + quoted(name) + " is in use by a container");
    if (!directory_.empty()) std::filesystem::remove(directory_ / found->first);
    layers_.erase(found);
}

std::unique_ptr<ArchiveStream> SimulatedLayers::pack(std::string_view name) {
    return std::make_unique<PackedSimulation>(*this, std::string(name));
}

void SimulatedLayers::unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop) {
    if (contains(name)) return;
    std::string text;
    for (std::string piece = packed.read(most_packed); !piece.empty(); piece = packed.read(most_packed)) {
        text += piece;
        if (text.size() > most_packed) break;
        if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "unpacking was cancelled");
    }
    keep(name, packed_size(text));
}

bool SimulatedLayers::contains(std::string_view name) {
    std::lock_guard lock(mutex_);
    return layers_.find(name) != layers_.end();
}

std::uint64_t SimulatedLayers::size(std::string_view name) {
    std::lock_guard lock(mutex_);
    const auto found = layers_.find(name);
    if (found == layers_.end()) throw Error(ErrorCode::not_found, "layer " + quoted(name) + " not found");
    return found->second.bytes;
}

std::vector<std::string> SimulatedLayers::list() {
    std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    names.reserve(layers_.size());
    for (const auto& [name, layer] : layers_) names.push_back(name);
    return names;
}

void SimulatedLayers::hold(const std::vector<std::string>& names) {
    std::lock_guard lock(mutex_);
    for (const std::string& name : names)
        if (!layers_.contains(name))
            throw Error(ErrorCode::not_found, "layer " + quoted(name) + " not found");
    for (const std::string& name : names) ++layers_[name].users;
}

void SimulatedLayers::drop(const std::vector<std::string>& names) {
    std::lock_guard lock(mutex_);
    for (const std::string& name : names) {
        const auto found = layers_.find(name);
        if (found != layers_.end() && found->second.users > 0) --found->second.users;
    }
}

}  // namespace svc
