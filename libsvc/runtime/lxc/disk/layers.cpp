#include "libsvc/runtime/lxc/disk/layers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/runtime/lxc/container/rootfs.h"
#include "libsvc/runtime/lxc/disk/layer_archive.h"
#include "libsvc/runtime/lxc/disk/overlay.h"
#include "libsvc/runtime/lxc/disk/packed_layer.h"

namespace svc::lxc {

namespace {

constexpr std::string_view temporary_prefix = ".tmp-";

// Names become folders and parts of mount options, where ':' and ',' have a meaning.
void check_name(std::string_view name) {
    const bool clean = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (name.empty() || name.size() > 200 || name.front() == '.' || !clean)
        throw Error(ErrorCode::invalid_argument, fmt::format("layer name {} is not usable", quoted(name)));
}

}  // namespace

Layers::Layers(Layout layout, std::uint32_t id_base, std::uint32_t id_count, const LayerLimits& limits)
    : layout_(std::move(layout)), id_base_(id_base), id_count_(id_count), limits_(limits) {
    make_directories(layout_.layers(), 0700);
    for (const auto& entry : std::filesystem::directory_iterator(layout_.layers())) {
        if (!entry.path().filename().native().starts_with(temporary_prefix)) continue;
        if (is_mount_point(entry.path())) ::umount2(entry.path().c_str(), UMOUNT_NOFOLLOW | MNT_DETACH);
        try {
            remove_tree(entry.path());
        } catch (const Error& e) {
            log::warning("unfinished layer cannot be removed",
                         {{"path", entry.path().native()}, {"error", e.what()}});
        }
    }
}

void Layers::add(std::string_view name, const std::filesystem::path& package, const Progress& progress) {
    check_name(name);
    if (contains(name)) return;
    const TemporaryDirectory temporary(layout_.layers(), temporary_prefix);
    const std::filesystem::path unpacked = temporary.path() / "layer";
    const std::filesystem::path rootfs = unpacked / "rootfs";
    make_directories(rootfs, 0755);
    if (::chmod(rootfs.c_str(), 0755) != 0 || ::chown(rootfs.c_str(), id_base_, id_base_) != 0)
        throw system_error("cannot make a layer's folder", errno);
    UnpackOptions options;
    options.subtree = "rootfs";
    options.id_shift = id_base_;
    options.limits = limits_.unpacked;
    options.floor = limits_.floor;
    options.floor_folder = layout_.layers();
    options.stop = progress.stop;
    options.progress = progress.report;
    const UnpackResult result = unpack_archive(package, rootfs, options);
    failpoint("layer.unpacked");
    const Json record = Json::object({{"schema", 1}, {"bytes", result.bytes}, {"entries", result.entries}});
    write_file_atomically(unpacked / "layer.json", record.dump());
    publish(name, unpacked);  // false: another call has added the same layer
}

bool Layers::publish(std::string_view name, const std::filesystem::path& folder) {
    if (::rename(folder.c_str(), layout_.layer(name).c_str()) != 0) {
        if (errno == EEXIST || errno == ENOTEMPTY) return false;
        throw system_error(fmt::format("cannot keep layer '{}'", name), errno);
    }
    failpoint("layer.published");
    sync_directory(layout_.layers());
    return true;
}

void Layers::publish_captured(std::string_view name, const std::filesystem::path& folder) {
    if (!publish(name, folder))
        throw Error(ErrorCode::conflict, fmt::format("layer '{}' exists already", name));
}

void Layers::remove(std::string_view name) {
    check_name(name);
    const TemporaryDirectory temporary(layout_.layers(), temporary_prefix);
    claims_.with([&](const auto& claims) {
        if (claims.contains(name) || claims_on_all_ > 0)
            throw Error(ErrorCode::busy, fmt::format("layer '{}' is in use by a container", name));
        if (::rename(layout_.layer(name).c_str(), (temporary.path() / "layer").c_str()) != 0 &&
            errno != ENOENT)
            throw system_error(fmt::format("cannot remove layer '{}'", name), errno);
    });
    failpoint("layer.moved_away");
}

void Layers::capture(std::string_view name, std::string_view container,
                     const std::vector<std::string>& leave_out) {
    check_name(name);
    disks_.capture(std::string(name), std::string(container), leave_out);
}

void Layers::snapshot(std::string_view name, std::string_view container,
                      const std::vector<std::string>& leave_out, std::stop_token stop) {
    check_name(name);
    disks_.snapshot(std::string(name), std::string(container), leave_out, std::move(stop));
}

void Layers::restore(std::string_view name, std::string_view container, std::stop_token stop) {
    if (!contains(name)) throw Error(ErrorCode::not_found, fmt::format("layer '{}' not found", name));
    const std::vector<std::string> used{std::string(name)};
    claim(used);
    Rollback release_layer;
    release_layer.add("layer", [&] { release(used); });
    disks_.restore(used[0], std::string(container), std::move(stop));
}

TemporaryDirectory Layers::temporary() const {
    return TemporaryDirectory(layout_.layers(), temporary_prefix);
}

std::unique_ptr<ArchiveStream> Layers::export_archive(const ExportRequest& request) {
    if (request.layers.empty()) throw Error(ErrorCode::invalid_argument, "layers are required");
    for (const std::string& name : request.layers) check_name(name);
    claim(request.layers);
    Rollback undo;
    undo.add("layers", [&] { release(request.layers); });
    auto archive =
        std::make_unique<LayerArchive>(open_tree(request.layers), GuestIds{id_base_, id_count_}, request,
                                       [this, names = request.layers] { release(names); });
    undo.dismiss();
    return archive;
}

FileDescriptor Layers::open_tree(const std::vector<std::string>& names) const {
    if (names.size() == 1) return open_file(layout_.layer_rootfs(names[0]), O_RDONLY | O_DIRECTORY);
    std::vector<std::filesystem::path> folders;
    for (const std::string& name : names) folders.push_back(layout_.layer_rootfs(name));
    const TemporaryDirectory scratch(layout_.layers(), temporary_prefix);
    return open_merged(folders, scratch.path());
}

std::unique_ptr<ArchiveStream> Layers::pack(std::string_view name) {
    check_name(name);
    const std::vector<std::string> used{std::string(name)};
    claim(used);
    Rollback undo;
    undo.add("layer", [&] { release(used); });
    auto packed = pack_folder(layout_.layer(name), id_base_, [this, used] { release(used); });
    undo.dismiss();
    return packed;
}

void Layers::unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop) {
    check_name(name);
    if (contains(name)) return;
    const TemporaryDirectory temporary(layout_.layers(), temporary_prefix);
    const std::filesystem::path unpacked = temporary.path() / "layer";
    make_directories(unpacked, 0755);
    unpack_folder(packed, unpacked, id_base_, limits_.floor, stop);
    if (!is_there(unpacked / "layer.json") || !is_there(unpacked / "rootfs"))
        throw Error(ErrorCode::invalid_argument, "packed layer is not whole");
    publish(name, unpacked);  // false: another call has made the same layer
}

bool Layers::contains(std::string_view name) {
    check_name(name);
    return is_there(layout_.layer(name) / "layer.json");
}

bool Layers::contains_file(std::string_view name, std::string_view path) {
    return has_file(layout_.layer_rootfs(name), std::string(path));
}

std::uint64_t Layers::size(std::string_view name) {
    if (!contains(name)) throw Error(ErrorCode::not_found, fmt::format("layer '{}' not found", name));
    const Json record = Json::parse(read_file(layout_.layer(name) / "layer.json"));
    return static_cast<std::uint64_t>(JsonFields(record).require_int("bytes"));
}

std::vector<std::string> Layers::list() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(layout_.layers())) {
        const std::string name = entry.path().filename().native();
        if (!name.starts_with('.') && contains(name)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

void Layers::claim(const std::vector<std::string>& names) {
    claims_.with([&](auto& claims) {
        for (const std::string& name : names)
            if (!contains(name)) throw Error(ErrorCode::not_found, fmt::format("layer '{}' not found", name));
        for (const std::string& name : names) ++claims[name];
    });
}

void Layers::claim_known(const std::vector<std::string>& names) {
    claims_.with([&](auto& claims) {
        for (const std::string& name : names) ++claims[name];
    });
}

void Layers::release(const std::vector<std::string>& names) {
    claims_.with([&](auto& claims) {
        for (const std::string& name : names)
            if (const auto found = claims.find(name); found != claims.end() && --found->second == 0)
                claims.erase(found);
    });
}

}  // namespace svc::lxc
