// Members of etcd that fail, cannot be reached or are none.
#include <catch2/catch.hpp>

#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/store/store_unavailable.h"
#include "tests/contract/etcd_world.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/test_certificates.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {
namespace {

std::string start_error(const EtcdOptions& options) {
    try {
        const EtcdStore store(options, system_clock());
        return "";
    } catch (const Error& e) {
        return e.what();
    }
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Counts up by compare-and-set until it is told to stop; an error ends it.
class Counting {
  public:
    explicit Counting(Store& store)
        : thread_([this, &store](const std::stop_token& stop) {
              error_ = code_of([&] {
                  while (!stop.stop_requested()) count(store);
              });
          }) {}
    int counted() const { return counted_; }
    std::optional<ErrorCode> stop() {
        thread_.request_stop();
        thread_.join();
        return error_;
    }

  private:
    void count(Store& store) {
        const auto entry = store.get("counter");
        Batch batch;
        batch.expect("counter", entry ? entry->revision : 0);
        store.commit(batch.put("counter", std::to_string(counted_ + 1)));
        ++counted_;
    }

    std::atomic<int> counted_{0};
    std::optional<ErrorCode> error_;
    std::jthread thread_;
};

void count_on(const Counting& counting) {
    const int before = counting.counted();
    eventually("it counts on", [&] { return counting.counted() > before + 3; });
}

TEST_CASE("callers see no error when members are killed one after the other and come back") {
    skip_unless_etcd();
    EtcdCluster etcd(3);
    EtcdStore store(etcd_options(etcd.endpoints()), system_clock());
    Counting counting(store);
    for (std::size_t member = 0; member < 3; ++member) {  // one of them was the leader
        count_on(counting);
        etcd.kill(member);
        count_on(counting);
        etcd.start(member);
    }
    count_on(counting);
    CHECK(counting.stop() == std::nullopt);
    CHECK(store.get("counter")->value == std::to_string(counting.counted()));
}

TEST_CASE("callers see no error when the member they use hangs") {
    skip_unless_etcd();
    EtcdCluster etcd(3);
    EtcdOptions options = etcd_options(etcd.endpoints());
    options.attempt = std::chrono::milliseconds(500);
    EtcdStore store(options, system_clock());
    Counting counting(store);
    count_on(counting);
    etcd.pause(0);
    count_on(counting);
    CHECK(counting.stop() == std::nullopt);
    CHECK(store.get("counter")->value == std::to_string(counting.counted()));
}

TEST_CASE("without a majority of members the store is unavailable, and back with it") {
    skip_unless_etcd();
    EtcdCluster etcd(3);
    EtcdOptions options = etcd_options(etcd.endpoints());
    options.patience = std::chrono::milliseconds(200);
    options.attempt = std::chrono::milliseconds(200);
    EtcdStore store(options, system_clock());
    store.commit(Batch().put("a", "1"));
    etcd.kill(0);
    etcd.kill(1);
    CHECK_THROWS_AS(store.get("a"), StoreUnavailable);
    CHECK_THROWS_AS(store.list("a"), StoreUnavailable);
    CHECK_THROWS_AS(store.catch_up(), StoreUnavailable);
    CHECK_THROWS_AS(store.commit(Batch().put("a", "2")), StoreUnavailable);
    etcd.start(0);
    CHECK(eventually([&] { return !code_of([&] { store.commit(Batch().put("a", "3")); }); }));
    CHECK(store.get("a")->value == "3");
}

TEST_CASE("a store whose etcd has gone back to an earlier state ends") {
    skip_unless_etcd();
    EtcdCluster etcd;
    EtcdStore store(etcd_options(etcd.endpoints()), system_clock());
    for (int i = 0; i < 3; ++i) store.commit(Batch().put("a", std::to_string(i)));
    etcd.kill(0);
    etcd.forget(0);
    etcd.start(0);
    CHECK(eventually([&] { return code_of([&] { store.get("a"); }) == ErrorCode::unavailable; }));
    CHECK(eventually([&] { return code_of([&] { store.commit({}); }) == ErrorCode::unavailable; }));
}

TEST_CASE("what does not answer as etcd does is told at the start, with the reason of each endpoint") {
    skip_unless_etcd();
    TestServer other;
    other.with_tcp = true;
    other.start();
    EtcdOptions options = etcd_options({"http://127.0.0.1:1", other.tcp_target().describe()});
    const std::string error = start_error(options);
    CHECK(contains(error, "cannot reach http://127.0.0.1:1: Connection refused"));
    CHECK(contains(error, other.tcp_target().describe() + " does not answer as etcd does"));
    options.endpoints = {"etcd.example:2379"};
    CHECK(contains(start_error(options), "address 'etcd.example:2379' is invalid"));
}

struct Certificates {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-etcd-tls-"};
    MadeCertificate authority = make_certificate({.name = "authority", .authority = true});
    MadeCertificate stranger = make_certificate({.name = "stranger", .authority = true});

    KeyPair signed_by(const MadeCertificate& issuer, const std::string& name) const {
        return make_certificate({.name = name,
                                 .extended_usage = "serverAuth,clientAuth",
                                 .alternative_names = "IP:127.0.0.1",
                                 .issuer = &issuer})
            .write_to(directory.path(), name);
    }
};

TEST_CASE_METHOD(Certificates, "etcd is spoken to by TLS with a client certificate, and with nothing less") {
    skip_unless_etcd();
    const auto authorities = authority.write_to(directory.path(), "authority").certificate;
    const EtcdCluster etcd(1, EtcdTls{signed_by(authority, "server"), authorities});
    EtcdOptions options = etcd_options(etcd.endpoints());
    options.authorities = authorities;
    options.identity = signed_by(authority, "client");
    {
        EtcdStore store(options, system_clock());
        store.commit(Batch().put("a", "1"));
        CHECK(store.get("a")->value == "1");
    }
    EtcdOptions nobody = options;
    nobody.identity.reset();
    CHECK(contains(start_error(nobody), "(it wants a client certificate)"));
    EtcdOptions foreign = options;
    foreign.identity = signed_by(stranger, "foreign");
    CHECK(contains(start_error(foreign), "(it does not accept the client certificate)"));
    EtcdOptions deceived = options;
    deceived.authorities = stranger.write_to(directory.path(), "stranger").certificate;
    CHECK(contains(start_error(deceived), "its certificate is not the expected one"));
    EtcdOptions empty = options;
    empty.authorities = directory.path() / "absent.crt";
    CHECK(code_of([&] { EtcdStore(empty, system_clock()); }) == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace svc::test
