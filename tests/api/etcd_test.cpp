// svcd with its records in etcd: what survives, who is refused, what is told at the start.
#include <catch2/catch.hpp>
#include <csignal>

#include "libsvc/base/strings.h"
#include "tests/support/api_caller.h"
#include "tests/support/daemon_process.h"
#include "tests/support/etcd_process.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_certificates.h"

namespace svc::test {
namespace {

// Tests share no keys: each has an etcd of its own.
struct EtcdSetup {
    EtcdSetup() { skip_unless_etcd(); }
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-api-etcd-"};
    std::filesystem::path path = directory.path();

    static std::vector<std::string> settings(const EtcdCluster& etcd, std::vector<std::string> more = {}) {
        more.insert(more.end(), {"store: etcd", "etcd_endpoints: " + join(etcd.endpoints(), ",")});
        return more;
    }
    std::vector<std::string> flags(std::vector<std::string> more) const {
        std::vector<std::string> all{
            "--store",          "etcd",     "--runtime",           "simulated", "--state-dir",
            path / "other",     "--socket", path / "other.socket", "--listen",  "none",
            "--metrics-listen", "none",     "--hypervisor-listen", "none"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    DaemonRun run(std::vector<std::string> more) const { return run_svcd(flags(std::move(more))); }
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string listed(ApiCaller& api) {
    return api.get("/1.0/containers?recursion=1").metadata().dump() +
           api.get("/1.0/images?recursion=1").metadata().dump();
}

TEST_CASE_METHOD(EtcdSetup, "instances and images are there again after a kill, with their records in etcd") {
    const EtcdCluster etcd;
    std::string kept;
    std::string before;
    {
        DaemonProcess daemon(path, settings(etcd));
        ApiCaller api(daemon.target());
        api.add_image("base", image_package());
        kept = api.launch("base");
        const std::string gone = api.launch("base");
        CHECK(api.get("/1.0/containers").metadata().as_array().size() == 2);
        api.succeed(api.remove("/1.0/containers/" + gone));
        api.settle();
        before = listed(api);
        daemon.kill();
    }
    const DaemonProcess daemon(path, settings(etcd));
    ApiCaller api(daemon.target());
    CHECK(listed(api) == before);
    CHECK(api.get("/1.0/containers/" + kept).metadata().at("status") == Json("running"));
    CHECK_FALSE(std::filesystem::exists(path / "state/svc.db"));
    CHECK_FALSE(api.launch("base").empty());
}

TEST_CASE_METHOD(EtcdSetup, "a launch that was accepted before a kill goes on after it") {
    const EtcdCluster etcd;
    std::string operation;
    {
        DaemonProcess daemon(path, settings(etcd, {"simulated_start_delay: 10m"}));
        ApiCaller api(daemon.target());
        api.add_image("base", image_package());
        const Json body = Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}});
        operation = api.post("/1.0/containers", body).operation();
        daemon.kill();
    }
    const DaemonProcess daemon(path, settings(etcd));
    ApiCaller api(daemon.target());
    CHECK(api.get(operation + "/wait?timeout=60").metadata().at("status") == Json("Success"));
    CHECK(api.get("/1.0/containers?recursion=1").metadata().as_array()[0].at("status") == Json("running"));
}

TEST_CASE_METHOD(EtcdSetup, "without etcd what is known is served, and work goes on when it is back") {
    EtcdCluster etcd;
    const DaemonProcess daemon(path, settings(etcd));
    ApiCaller api(daemon.target());
    api.add_image("base", image_package());
    api.launch("base");
    api.settle();
    const std::string before = listed(api);
    etcd.kill(0);
    CHECK(listed(api) == before);
    etcd.start(0);
    CHECK_FALSE(api.launch("base").empty());
}

TEST_CASE_METHOD(EtcdSetup, "a second svcd is refused while the first one serves") {
    const EtcdCluster etcd;
    DaemonProcess first(path, settings(etcd));
    const DaemonRun second = run({"--etcd-endpoints", etcd.endpoints()[0]});
    CHECK(second.status == 1);
    CHECK(has(second.output, "the records in etcd are in use by another svcd, on host 'node0'"));
    first.signal(SIGTERM);
    REQUIRE(first.wait());
    std::filesystem::create_directories(path / "second");
    const DaemonProcess after(path / "second", settings(etcd));
    CHECK(ApiCaller(after.target()).get("/1.0").status == 200);
}

TEST_CASE_METHOD(EtcdSetup, "an svcd that another one has taken over from ends with status one") {
    const EtcdCluster etcd;
    DaemonProcess daemon(path, settings(etcd));
    ApiCaller api(daemon.target());
    etcd.control({"put", "/svc/owner", "another"});
    CHECK(api.upload(Method::post, "/1.0/images", R"({"name":"base"})", image_package()).error() ==
          "another svcd has taken over the records in etcd");
    const auto status = daemon.wait();
    REQUIRE(status);
    CHECK(status->code == 1);
}

TEST_CASE_METHOD(EtcdSetup, "what is wrong with etcd is told at the start") {
    const DaemonRun unreachable = run({"--etcd-endpoints", "http://127.0.0.1:1"});
    CHECK(unreachable.status == 1);
    CHECK(has(unreachable.output, "svcd: etcd: cannot reach http://127.0.0.1:1: Connection refused"));
    const DaemonRun malformed = run({"--etcd-endpoints", "127.0.0.1:2379", "--check-config"});
    CHECK(malformed.status == 2);
    CHECK(has(malformed.output, "'127.0.0.1:2379' does not begin with http:// or https://"));
    const DaemonRun half = run({"--etcd-cert", "/dev/null"});
    CHECK(half.status == 2);
    CHECK(has(half.output, "etcd_cert and etcd_key must be given together"));
    const DaemonRun absent = run({"--etcd-endpoints", "https://127.0.0.1:1", "--etcd-ca", "/absent"});
    CHECK(absent.status != 0);
}

TEST_CASE_METHOD(EtcdSetup, "svcd speaks to etcd by TLS with the certificates that its flags name") {
    const MadeCertificate authority = make_certificate({.name = "authority", .authority = true});
    const auto keys = [&](const std::string& name) {
        return make_certificate({.name = name,
                                 .extended_usage = "serverAuth,clientAuth",
                                 .alternative_names = "IP:127.0.0.1",
                                 .issuer = &authority})
            .write_to(path, name);
    };
    const auto ca = authority.write_to(path, "authority").certificate;
    const KeyPair client = keys("client");
    const EtcdCluster etcd(1, EtcdTls{keys("server"), ca});
    const DaemonRun distrustful = run({"--etcd-endpoints", etcd.endpoints()[0]});
    CHECK(distrustful.status == 1);
    CHECK(has(distrustful.output, "its certificate is not the expected one"));
    const DaemonRun anonymous = run({"--etcd-endpoints", etcd.endpoints()[0], "--etcd-ca", ca});
    CHECK(anonymous.status == 1);
    CHECK(has(anonymous.output, "(it wants a client certificate)"));
    const DaemonProcess daemon(
        path, settings(etcd, {"etcd_ca: " + ca.string(), "etcd_cert: " + client.certificate.string(),
                              "etcd_key: " + client.key.string()}));
    CHECK(ApiCaller(daemon.target()).get("/1.0").status == 200);
}

TEST_CASE_METHOD(EtcdSetup, "tools for a database say that the records are in etcd") {
    const EtcdCluster etcd;
    { const DaemonProcess daemon(path, settings(etcd)); }
    const DaemonRun check = run_svcd({"check", "--state-dir", path / "state", "--runtime", "simulated"});
    CHECK(check.status == 1);
    CHECK(has(check.output, "the records of this state directory are in etcd"));
}

}  // namespace
}  // namespace svc::test
