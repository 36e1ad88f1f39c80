#pragma once
// The layers of all nodes as one LayerStore; ClusterRuntime has it.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/cluster/members/layer_spread.h"
#include "libsvc/cluster/members/members.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe. See ClusterRuntime::layers().
class ClusterLayers final : public LayerStore {
  public:
    // `node_of`: where a container is; throws not_found.
    ClusterLayers(Members& members, LayerSpread& spread,
                  std::function<MemberPtr(std::string_view id)> node_of);

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
    bool contains_file(std::string_view name, std::string_view path) override;  // of a layer of this machine
    std::uint64_t size(std::string_view name) override;
    std::vector<std::string> list() override;

  private:
    MemberPtr maker(std::string_view name, std::string_view container) const;

    Members& members_;
    LayerSpread& spread_;
    const std::function<MemberPtr(std::string_view)> node_of_;
};

}  // namespace svc
