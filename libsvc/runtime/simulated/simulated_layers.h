#pragma once
// A LayerStore without files: packages are read to their end and measured, not unpacked.
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe. Keeps name and size of each layer, as one small file each when `directory` is not empty.
class SimulatedLayers final : public LayerStore {
  public:
    // `check_idle` throws when a container is unknown or runs. `changed_bytes`: see capture().
    SimulatedLayers(std::filesystem::path directory, std::uint64_t changed_bytes,
                    std::function<void(std::string_view container)> check_idle);
    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override;
    void remove(std::string_view name) override;
    // Adds a layer with the size `changed_bytes`.
    void capture(std::string_view name, std::string_view container,
                 const std::vector<std::string>& leave_out) override;
    void snapshot(std::string_view name, std::string_view container,
                  const std::vector<std::string>& leave_out, std::stop_token stop) override;
    void restore(std::string_view name, std::string_view container, std::stop_token stop) override;
    // The archive has the names of the layers in a file. Must not outlive this object.
    std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) override;
    std::unique_ptr<ArchiveStream> pack(
        std::string_view name) override;  // its size; must not outlive this object
    void unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop) override;
    bool contains(std::string_view name) override;
    std::uint64_t size(std::string_view name) override;
    std::vector<std::string> list() override;

    void hold(const std::vector<std::string>& names);  // for a container that uses them; throws not_found
    void drop(const std::vector<std::string>& names);

  private:
    struct Layer {
        std::uint64_t bytes = 0;
        std::uint64_t users = 0;
    };
    void load();
    void keep(std::string_view name, std::uint64_t bytes);

    std::filesystem::path directory_;
    std::uint64_t changed_bytes_;
    std::function<void(std::string_view)> check_idle_;
    std::mutex mutex_;
    std::map<std::string, Layer, std::less<>> layers_;
};

}  // namespace svc
