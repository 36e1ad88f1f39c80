#pragma once
// The LayerStore of lxc: folders layers/<name>/{rootfs, layer.json}, with owners shifted into the id range of
// the containers.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxc/disk/layer_limits.h"
#include "libsvc/runtime/lxc/layout.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// Thread-safe.
class Layers final : public LayerStore {
  public:
    // Removes what an interrupted add(), remove() or export has left.
    Layers(Layout layout, std::uint32_t id_base, std::uint32_t id_count, const LayerLimits& limits = {});

    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override;
    void remove(std::string_view name) override;
    void capture(std::string_view name, std::string_view container,
                 const std::vector<std::string>& leave_out) override;
    void snapshot(std::string_view name, std::string_view container,
                  const std::vector<std::string>& leave_out, std::stop_token stop) override;
    void restore(std::string_view name, std::string_view container, std::stop_token stop) override;
    std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) override;
    std::unique_ptr<ArchiveStream> pack(std::string_view name) override;
    void unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop) override;
    bool contains(std::string_view name) override;
    bool contains_file(std::string_view name, std::string_view path) override;
    std::uint64_t size(std::string_view name) override;
    std::vector<std::string> list() override;

    // capture(), snapshot() and restore() call these functions, because the runtime knows the containers. Set
    // them before the first call.
    struct DiskCalls {
        std::function<void(const std::string& layer, const std::string& container,
                           const std::vector<std::string>& leave_out)>
            capture;
        std::function<void(const std::string& layer, const std::string& container,
                           const std::vector<std::string>& leave_out, const std::stop_token& stop)>
            snapshot;
        std::function<void(const std::string& layer, const std::string& container,
                           const std::stop_token& stop)>
            restore;
    };
    void set_disk_calls(DiskCalls calls) { disks_ = std::move(calls); }
    // A folder that goes with its owner unless it is published.
    TemporaryDirectory temporary() const;
    // Makes a finished folder a layer by renaming it. Throws conflict where the name is taken.
    void publish_captured(std::string_view name, const std::filesystem::path& folder);

    // Claims layers for a container: they cannot be removed until they are released. Throws not_found, and
    // claims none, when one is missing.
    void claim(const std::vector<std::string>& names);
    void claim_known(
        const std::vector<std::string>& names);  // for an adopted container: claims a missing one too
    void release(const std::vector<std::string>& names);
    // For a container whose layers are not known: no layer can be removed until release_all().
    void claim_all() { ++claims_on_all_; }
    void release_all() { --claims_on_all_; }

  private:
    bool publish(std::string_view name, const std::filesystem::path& folder);  // false: a layer has the name
    FileDescriptor open_tree(const std::vector<std::string>& names) const;

    Layout layout_;
    std::uint32_t id_base_, id_count_;
    LayerLimits limits_;
    DiskCalls disks_;
    Guarded<std::map<std::string, unsigned, std::less<>>> claims_;
    std::atomic<unsigned> claims_on_all_{0};
};

}  // namespace svc::lxc
