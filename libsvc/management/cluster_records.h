#pragma once
// All collections of records that the services keep in the store.
#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe, like each Collection. Reads the store at construction and watches it from then on. One service
// writes each collection; everybody else reads it (libsvc/services/common/records.h).
struct ClusterRecords {
    explicit ClusterRecords(Store& store)
        : images(store),
          instances(store),
          nodes(store),
          addons(store),
          applications(store),
          certificates(store),
          join_tokens(store),
          config(store) {}

    Images images;
    Instances instances;
    Nodes nodes;
    Addons addons;
    Applications applications;
    Certificates certificates;
    JoinTokens join_tokens;
    ConfigRecords config;
};

}  // namespace svc
