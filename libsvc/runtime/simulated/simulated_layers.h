#pragma once
// Layers without files: packages are read to their end and measured, not unpacked.
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe. Keeps name and size of each layer, as one small file each when `directory` is not empty.
class SimulatedLayers final : public LayerStore {
  public:
    explicit SimulatedLayers(std::filesystem::path directory);
    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override;
    void remove(std::string_view name) override;
    bool contains(std::string_view name) override;
    std::uint64_t size(std::string_view name) override;
    std::vector<std::string> list() override;

    void hold(
        const std::vector<std::string>& names);  // a container uses them; throws not_found for an unknown one
    void drop(const std::vector<std::string>& names);

  private:
    struct Layer {
        std::uint64_t bytes = 0;
        std::uint64_t users = 0;
    };
    void load();

    std::filesystem::path directory_;
    std::mutex mutex_;
    std::map<std::string, Layer, std::less<>> layers_;
};

}  // namespace svc
