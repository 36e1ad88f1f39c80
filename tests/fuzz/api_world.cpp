#include "tests/fuzz/api_world.h"

#include "libsvc/base/error.h"
#include "server/routes/api.h"

namespace svc::fuzz {

ApiWorld::ApiWorld() : router_(server::api_routes(services())) {
    management_.recover();
}

ManagementSeams ApiWorld::seams() {
    ManagementSeams seams{store_, blobs_, runtime_, runtime_.layers(), events_, clock_, ids_};
    seams.open_image_server = [](auto&&...) -> std::unique_ptr<ImageServer> {
        throw Error(ErrorCode::unavailable, "there is no image server");
    };
    seams.open_catalogue = [](auto&&...) -> std::unique_ptr<Catalogue> {
        throw Error(ErrorCode::unavailable, "there is no registry");
    };
    return seams;
}

ManagementOptions ApiWorld::options() const {
    ManagementOptions options;
    options.token_secret = directory_.path() / "secret";
    options.registry_keys = directory_.path() / "registry";
    options.engine.workers = 2;
    options.nodes.local_name = "node0";
    options.instances.log_dir = directory_.path() / "logs";
    return options;
}

server::Services ApiWorld::services() {
    return {{1U << 20, {1U << 20, 1000}},
            authenticator_,
            metrics_,
            history_,
            events_,
            audit_,
            management_.engine(),
            blobs_,
            management_.config(),
            management_.certificates(),
            management_.addons(),
            management_.images(),
            management_.image_sync(),
            management_.applications(),
            management_.registry(),
            management_.nodes(),
            management_.instances(),
            management_.exec(),
            management_.tokens(),
            management_.bulk_deletion(),
            management_,
            [] { return server::ServerIdentity{}; },
            network_};
}

}  // namespace svc::fuzz
