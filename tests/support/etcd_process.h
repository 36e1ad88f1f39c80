#pragma once
// A real etcd, alone or as a member of a cluster, in a temporary directory and on free ports of the loopback.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/net/tls/tls.h"

namespace svc::test {

void skip_unless_etcd();  // "needs etcd"

// Of TLS: what etcd presents, and who signs it and its clients.
struct EtcdTls {
    KeyPair server;
    std::filesystem::path authorities;
};

// One thread. Killed with the object.
class EtcdCluster {
  public:
    // Returns when all members answer.
    explicit EtcdCluster(std::size_t members = 1, std::optional<EtcdTls> tls = std::nullopt);
    std::vector<std::string> endpoints() const;
    void kill(std::size_t member);    // SIGKILL, and waits for the end
    void pause(std::size_t member);   // SIGSTOP: it answers nothing, and its connections stay
    void start(std::size_t member);   // after kill()
    void forget(std::size_t member);  // after kill(): what it has stored
    // What etcdctl says, with all endpoints. Throws when it fails. Without TLS.
    std::string control(std::vector<std::string> arguments) const;

  private:
    struct Member {
        std::string name, client, peer;
        std::unique_ptr<Child> process;
    };
    void choose_addresses();
    bool form();  // false: somebody else has taken an address
    bool answers(const Member& member) const;

    TemporaryDirectory directory_;
    std::optional<EtcdTls> tls_;
    std::vector<Member> members_;
};

}  // namespace svc::test
