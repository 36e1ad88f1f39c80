#pragma once
// Brings layers to the nodes that need them: from another node, once at a time for each layer and node.
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libsvc/cluster/members/members.h"

namespace svc {

// Thread-safe.
class LayerSpread {
  public:
    explicit LayerSpread(Members& members) : members_(members) {}

    // Returns when `to` has all of them; who waits for the same layer shares one transfer. Throws not_found
    // where no node has one of them, unavailable where a node that is offline may have it.
    void bring(const MemberPtr& to, const std::vector<std::string>& layers);
    struct Search {
        MemberPtr found;         // an online node that has all of them; null: none that answers
        bool everywhere = true;  // every node there is has answered
    };
    Search search(const std::vector<std::string>& layers) const;
    MemberPtr holder(std::string_view layer) const;  // throws not_found, unavailable as above

  private:
    using Key = std::pair<std::string, std::string>;  // node, layer
    void bring_one(const MemberPtr& to, const std::string& layer);
    void transfer(const MemberPtr& to, const std::string& layer);

    Members& members_;
    std::mutex mutex_;
    std::map<Key, std::shared_future<void>> under_way_;
};

}  // namespace svc
