#pragma once
// The application registry: list, push, pull, delete, and what happens by itself (facts 4.1; registry.*).
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/remote/catalogue.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/trust/certificate_service.h"

namespace svc {

struct RegistryServiceParts {
    ApplicationService& applications;
    const CertificateService& certificates;  // registry.fingerprint must be in the trust store
    ConfigService& config;
    BlobStore& blobs;
    Engine& engine;
    std::filesystem::path keys;  // <state>/registry: client.crt, client.key, made at first use
    std::string architecture;
};

// Thread-safe. Registers "registry.push", "registry.pull", "registry.delete". All throw invalid_argument
// "registry not configured" while registry.url is empty; push in pull mode and the reverse: "<x> not
// allowed".
class RegistryService {
  public:
    explicit RegistryService(RegistryServiceParts parts);
    ~RegistryService();
    std::vector<CatalogueApplication> list();  // blocks on the network; filtered by registry.filter
    Started push(std::string_view id_or_name,
                 std::string requestor);                         // every published version the registry lacks
    Started pull(std::string_view name, std::string requestor);  // every version this service lacks
    Started remove(std::string_view name, std::string requestor);
    // What the mode asks for: pull new versions and forget what the registry no longer has, or push what is
    // published. A periodic job with the interval registry.update_interval; also called after registry.*
    // changed. Starts operations, waits for none of them to end.
    void synchronise();
    // A publisher sends what was just published. Returns at once, throws nothing; any thread.
    void published(const std::string& application_id);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
