#pragma once
// Keys and certificates of TLS servers. OpenSSL stays inside the .cpp files of net.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/net/tls/certificate.h"

namespace svc {

struct KeyPair {
    std::filesystem::path certificate;  // PEM
    std::filesystem::path key;          // PEM, mode 0600
};

// Makes an ECDSA P-256 key and a self-signed certificate valid for ten years, with DNS and IP subject
// alternative names; files are written atomically, the key first. Does nothing when both exist.
void ensure_key_pair(const KeyPair& files, std::string_view common_name,
                     const std::vector<std::string>& dns_names, const std::vector<std::string>& addresses,
                     const Clock& clock);

// Reads a certificate from PEM or DER; throws invalid_argument.
ClientCertificate parse_certificate(std::string_view pem_or_der);
std::string to_pem(const ClientCertificate& certificate);

enum class TlsVersion { tls12, tls13 };

// The key and certificate for clients that ask for this name (SNI, case does not matter).
struct NamedIdentity {
    std::string name;
    KeyPair files;
};

// A server's TLS settings. Versions older than `least` are refused. A client certificate is requested, never
// required, and not checked here. Clients that ask for no name, or for one that is not among `named`, get the
// certificate of `files`. Throws invalid_argument naming the files that are bad. Thread-safe. After reload()
// new connections get the changed `files`; those of `named` are read once.
class TlsContext {
  public:
    explicit TlsContext(KeyPair files, TlsVersion least = TlsVersion::tls12,
                        const std::vector<NamedIdentity>& named = {});
    ~TlsContext();
    void reload();                    // when the files are bad, it throws and the old ones stay
    std::string fingerprint() const;  // of the certificate now served
    std::string fingerprint(std::string_view name) const;  // of a named one's; throws not_found
    struct State;
    std::shared_ptr<const State> state() const;

  private:
    KeyPair files_;
    TlsVersion least_;
    struct Holder;
    std::unique_ptr<Holder> holder_;
};

}  // namespace svc
