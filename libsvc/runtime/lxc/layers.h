#pragma once
// Read-only layers as folders: layers/<name>/{rootfs, layer.json}, owners shifted into the containers' id
// range.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxc/layout.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

class Layers final : public LayerStore {
  public:
    // Removes what an interrupted add() or remove() left.
    Layers(Layout layout, std::uint32_t id_base);

    void add(std::string_view name, const std::filesystem::path& package, const Progress& progress) override;
    void remove(std::string_view name) override;
    void capture(std::string_view name, std::string_view container,
                 const std::vector<std::string>& leave_out) override;
    std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) override;
    bool contains(std::string_view name) override;
    std::uint64_t size(std::string_view name) override;
    std::vector<std::string> list() override;

    // A container's claim on its layers: they cannot be removed until released. Throws not_found, claiming
    // none.
    void claim(const std::vector<std::string>& names);
    void claim_known(
        const std::vector<std::string>& names);  // of an adopted container: also when one is missing
    void release(const std::vector<std::string>& names);

  private:
    void publish(std::string_view name, const std::filesystem::path& unpacked);

    Layout layout_;
    std::uint32_t id_base_;
    Guarded<std::map<std::string, unsigned, std::less<>>> claims_;
};

}  // namespace svc::lxc
