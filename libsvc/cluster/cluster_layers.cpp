#include "libsvc/cluster/cluster_layers.h"

#include <set>

#include "libsvc/base/error.h"
#include "libsvc/cluster/members/ask_all.h"

namespace svc {

ClusterLayers::ClusterLayers(Members& members, LayerSpread& spread,
                             std::function<MemberPtr(std::string_view)> node_of)
    : members_(members), spread_(spread), node_of_(std::move(node_of)) {}

// A call that is repeated may find that the container has gone: its layer is where it was made.
MemberPtr ClusterLayers::maker(std::string_view name, std::string_view container) const {
    try {
        return node_of_(container);
    } catch (const Error& e) {
        MemberPtr made =
            e.code() == ErrorCode::not_found ? spread_.search({std::string(name)}).found : nullptr;
        if (!made) throw;
        return made;
    }
}

void ClusterLayers::add(std::string_view name, const std::filesystem::path& package,
                        const Progress& progress) {
    members_.local()->layers().add(name, package, progress);
}

// The leader's own comes last: as long as another node cannot remove it, others can fetch it from here.
void ClusterLayers::remove(std::string_view name) {
    auto online = members_.online();
    for (auto each = online.rbegin(); each != online.rend(); ++each) (*each)->layers().remove(name);
}

void ClusterLayers::capture(std::string_view name, std::string_view container,
                            const std::vector<std::string>& leave_out) {
    maker(name, container)->layers().capture(name, container, leave_out);
}

void ClusterLayers::snapshot(std::string_view name, std::string_view container,
                             const std::vector<std::string>& leave_out, std::stop_token stop) {
    maker(name, container)->layers().snapshot(name, container, leave_out, std::move(stop));
}

void ClusterLayers::restore(std::string_view name, std::string_view container, std::stop_token stop) {
    const MemberPtr node = node_of_(container);
    spread_.bring(node, {std::string(name)});
    node->layers().restore(name, container, std::move(stop));
}

std::unique_ptr<ArchiveStream> ClusterLayers::export_archive(const ExportRequest& request) {
    const MemberPtr node = spread_.search(request.layers).found;
    if (node) return node->layers().export_archive(request);
    spread_.bring(members_.local(), request.layers);
    return members_.local()->layers().export_archive(request);
}

std::unique_ptr<ArchiveStream> ClusterLayers::pack(std::string_view name) {
    return spread_.holder(name)->layers().pack(name);
}

void ClusterLayers::unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop) {
    members_.local()->layers().unpack(name, packed, std::move(stop));
}

bool ClusterLayers::contains(std::string_view name) {
    return spread_.search({std::string(name)}).found != nullptr;
}

bool ClusterLayers::contains_file(std::string_view name, std::string_view path) {
    return members_.local()->layers().contains_file(name, path);
}

std::uint64_t ClusterLayers::size(std::string_view name) {
    return spread_.holder(name)->layers().size(name);
}

std::vector<std::string> ClusterLayers::list() {
    std::set<std::string> names;
    for (const auto& answer :
         ask_all(members_.online(), [](const Member& each) { return each.layers().list(); }))
        if (answer) names.insert(answer->begin(), answer->end());
    return {names.begin(), names.end()};
}

}  // namespace svc
