#pragma once
// The whole management API over simulated containers and a store in memory, without sockets.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/management/management_service.h"
#include "libsvc/net/http/router.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/http/instance_network.h"
#include "server/login/authenticate.h"
#include "server/metrics/hypervisor_metrics.h"
#include "server/metrics/metrics_history.h"
#include "server/routes/services.h"
#include "tests/fuzz/memory_folder.h"

namespace svc::fuzz {

// Nothing leaves the process: registries and image servers cannot be reached.
class ApiWorld {
  public:
    ApiWorld();
    const Router& router() const { return router_; }

  private:
    ManagementSeams seams();
    ManagementOptions options() const;
    server::Services services();

    TemporaryDirectory directory_{memory_folder(), "svc-fuzz-"};
    SystemClock clock_;
    SystemIdSource ids_{clock_};
    SqliteStore store_{":memory:"};
    EventBus events_{clock_}, audit_{clock_};
    DirBlobStore blobs_{
        {.root = directory_.path() / "blobs", .reserve_bytes = 0, .max_blob_bytes = 1U << 20}};
    SimulatedRuntime runtime_{clock_, {}};
    ManagementService management_{seams(), options()};
    const std::shared_ptr<const Certificate> everyone_ = std::make_shared<Certificate>();  // an admin's
    server::Authenticator authenticator_{
        {.vouching = [this](const ClientCertificate&) { return everyone_; }}};
    server::MetricsHistory history_;
    server::HypervisorMetrics metrics_{runtime_, management_.instances(), management_.applications()};
    server::InstanceNetwork network_{"192.168.100.1/20", "svcbr0"};
    Router router_;
};

}  // namespace svc::fuzz
