#pragma once
// A manager in this process, as far as other managers see it: its packages, and a listener with TLS that
// offers them. All of them have one certificate.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/cluster/blob_routes.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/model/values/api.h"
#include "libsvc/net/server/routed_service.h"
#include "tests/support/fake_membership.h"

namespace svc::test {

// The certificate of a cluster, in a folder.
inline PeerIdentity make_peer_identity(const std::filesystem::path& folder) {
    const KeyPair keys{folder / "cluster.crt", folder / "cluster.key"};
    ensure_key_pair(keys, "cluster", {"localhost"}, {"127.0.0.1"}, SystemClock());
    return {keys, parse_certificate(read_file(keys.certificate)).fingerprint};
}

// Routes that managers offer each other; errors have the envelope of the API.
class PeerService final : public RoutedService {
  public:
    explicit PeerService(std::vector<Route> routes) : RoutedService({{"", std::move(routes)}}) {}
    // Runs for each request; what it throws refuses the request.
    std::function<void(const Request&)> on_request;

  protected:
    void check(const Request& request) override {
        if (on_request) on_request(request);
    }
    Response reply_to(const std::exception& error) override {
        const auto* known = dynamic_cast<const Error*>(&error);
        const int status = http_status(known != nullptr ? known->code() : ErrorCode::internal);
        return json_response(status, Json::object({{"error", error.what()}}).dump());
    }
};

// Thread-safe once it is made. Leaves nothing.
class ManagerMachine {
  public:
    ManagerMachine(const std::string& name, const PeerIdentity& identity,
                   const std::filesystem::path& parent = std::filesystem::temp_directory_path())
        : ManagerMachine(name, identity, parent, nullptr) {}
    // `more`: routes besides those of its packages.
    ManagerMachine(const std::string& name, const PeerIdentity& identity, const std::filesystem::path& parent,
                   const std::function<std::vector<Route>(ManagerMachine&)>& more)
        : directory(parent),
          blobs({.root = directory.path() / "blobs", .reserve_bytes = 0}),
          guard(directory.path() / "term"),
          membership({"id-" + name, name, "127.0.0.1:1", "1", 1}),
          service(all_routes(more)),
          pool_("peer", 4, 64),
          server(service, pool_, {}) {
        self = membership.self();
        self.address = server.listen_tcp("peers", "127.0.0.1:0", std::make_shared<TlsContext>(identity.keys));
        membership.join(self);
        server.start();
    }
    ~ManagerMachine() { stop(); }
    ManagerMachine(const ManagerMachine&) = delete;
    ManagerMachine& operator=(const ManagerMachine&) = delete;
    // Its listener is gone; whoever calls is refused.
    void stop() { server.stop(std::chrono::milliseconds(0)); }

    TemporaryDirectory directory;
    DirBlobStore blobs;
    TermGuard guard;
    FakeMembership membership;
    Manager self;
    PeerService service;

  private:
    std::vector<Route> all_routes(const std::function<std::vector<Route>(ManagerMachine&)>& more) {
        std::vector<Route> routes = blob_routes(blobs, guard);
        if (more)
            for (Route& route : more(*this)) routes.push_back(std::move(route));
        return routes;
    }

    ThreadPool pool_;
    HttpServer server;
};

}  // namespace svc::test
