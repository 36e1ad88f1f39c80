#pragma once
// All collections of records that the services keep in the store.
#include "libsvc/services/common/instance_listener.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/common/snapshot_records.h"
#include "libsvc/services/trust/browser_session_ends.h"
#include "libsvc/services/trust/certificate_changes.h"

namespace svc {

// Thread-safe, like each Collection. Reads the store at construction and watches it from then on. One service
// writes each collection; everybody else reads it (libsvc/services/common/records.h).
struct ClusterRecords {
    explicit ClusterRecords(Store& keeps) : store(keeps) {}
    ClusterRecords(const ClusterRecords&) = delete;
    ClusterRecords& operator=(const ClusterRecords&) = delete;

    Store& store;
    Images images{store};
    InstanceListener instance_listener;
    Instances instances{store, instance_listener.observer()};
    Nodes nodes{store};
    RemovedNodes removed_nodes{store};
    Addons addons{store};
    Applications applications{store};
    CertificateChanges certificate_changes;
    Certificates certificates{store, certificate_changes.observer()};
    JoinTokens join_tokens{store};
    BrowserSessionEnds session_ends;
    BrowserSessions sessions{store, session_ends.observer()};
    ConfigRecords config{store};
    Snapshots snapshots{store};

    // False: a record that may refer to packages and layers cannot be read.
    bool know_all_content() const {
        return images.all_readable() && instances.all_readable() && addons.all_readable() &&
               applications.all_readable() && snapshots.all_readable();
    }
};

}  // namespace svc
