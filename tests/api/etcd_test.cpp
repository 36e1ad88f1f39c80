// svcd with its records in etcd: what survives, who is refused, what is told at the start.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>

#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/socket/bind.h"
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

// Whether SIGTERM may end the process while this thread runs: the main thread is to take the signal.
bool is_open_to_sigterm(const std::filesystem::path& task) {
    const std::string status = read_file(task / "status");
    const auto blocked = std::stoull(status.substr(status.find("SigBlk:") + 7), nullptr, 16);
    return (blocked & (1ULL << (SIGTERM - 1))) == 0;
}

TEST_CASE_METHOD(EtcdSetup, "no thread but the main one takes the signal that ends svcd") {
    const EtcdCluster etcd;
    const DaemonProcess daemon(path, settings(etcd));
    const std::string main_thread = std::to_string(daemon.pid());
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + main_thread + "/task")) {
        if (task.path().filename() == main_thread) continue;
        INFO(read_file(task.path() / "comm"));
        CHECK_FALSE(is_open_to_sigterm(task.path()));
    }
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

TEST_CASE_METHOD(EtcdSetup, "a backup of one machine becomes a cluster's state, and a cluster's a backup") {
    const EtcdCluster etcd;
    const std::string file = path / "one.tar.gz", back = path / "back.tar.gz";
    const auto tool = [&](const std::string& name, const std::string& state, const std::string& backup) {
        return run_svcd({name, "--store", "etcd", "--etcd-endpoints", join(etcd.endpoints(), ","),
                         "--runtime", "simulated", "--state-dir", state, backup});
    };
    std::string before;
    {
        DaemonProcess daemon(path, {});
        ApiCaller api(daemon.target());
        api.add_image("base", image_package());
        api.settle();
        before = api.get("/1.0/images?recursion=1").metadata().dump();
        daemon.kill();
    }
    REQUIRE(run_svcd({"export", "--runtime", "simulated", "--state-dir", path / "state", file}).status == 0);
    std::filesystem::rename(path / "state", path / "former");
    // One that was killed after its beginning keeps others out, and the same one may go on.
    const std::string empty = tool("import", path / "state", path / "none.tar.gz").output;
    INFO(empty);
    CHECK(has(run({"--etcd-endpoints", join(etcd.endpoints(), ",")}).output,
              "an import into etcd has not ended"));
    CHECK(has(tool("import", path / "elsewhere", file).output,
              "etcd is not empty: it has the key '/svc/importing'"));
    const auto done = tool("import", path / "state", file);
    INFO(done.output);
    REQUIRE(done.status == 0);
    CHECK_FALSE(std::filesystem::exists(path / "state/importing.db"));
    CHECK(has(tool("import", path / "again", file).output, "etcd is not empty"));
    {
        DaemonProcess daemon(path, settings(etcd));
        ApiCaller api(daemon.target());
        CHECK(api.get("/1.0/images?recursion=1").metadata().dump() == before);
        CHECK_FALSE(api.launch("base").empty());
        api.settle();
        daemon.kill();
    }
    REQUIRE(tool("export", path / "state", back).status == 0);
    std::filesystem::rename(path / "state", path / "of cluster");
    REQUIRE(run_svcd({"import", "--runtime", "simulated", "--state-dir", path / "state", back}).status == 0);
    const DaemonProcess daemon(path, {});
    ApiCaller api(daemon.target());
    CHECK(api.get("/1.0/images?recursion=1").metadata().dump() == before);
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
    etcd.control({"put", "/svc/owner", "another"});
    const auto status = daemon.wait();
    REQUIRE(status);
    CHECK(status->code == 1);
}

TEST_CASE_METHOD(EtcdSetup, "what is wrong with etcd is told at the start") {
    const DaemonRun malformed = run({"--etcd-endpoints", "127.0.0.1:2379", "--check-config"});
    CHECK(malformed.status == 2);
    CHECK(has(malformed.output, "'127.0.0.1:2379' does not begin with http:// or https://"));
    const DaemonRun half = run({"--etcd-cert", "/dev/null"});
    CHECK(half.status == 2);
    CHECK(has(half.output, "etcd_cert and etcd_key must be given together"));
    const DaemonRun absent = run({"--etcd-endpoints", "https://127.0.0.1:1", "--etcd-ca", "/absent"});
    CHECK(absent.status != 0);
}

// The socket of a service manager.
struct SystemdSocket {
    explicit SystemdSocket(const std::string& path)
        : socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    }
    // All that has come.
    std::string told() const {
        std::string all;
        std::array<char, 4096> message{};
        for (ssize_t got = 0; got >= 0; got = ::recv(socket.get(), message.data(), message.size(), 0))
            all.append(message.data(), static_cast<std::size_t>(got)).append("\n");
        return all;
    }
    FileDescriptor socket;
};

TEST_CASE_METHOD(EtcdSetup, "svcd waits for an etcd that starts after it, and systemd for svcd") {
    EtcdCluster etcd;
    etcd.kill(0);
    const SystemdSocket systemd(path / "systemd");
    StartingDaemon daemon(flags({"--etcd-endpoints", etcd.endpoints()[0]}), path / "systemd");
    REQUIRE(daemon.says("waiting for etcd"));
    REQUIRE(daemon.says("cannot reach " + etcd.endpoints()[0] + ": Connection refused"));
    CHECK(eventually([&] { return has(systemd.told(), "EXTEND_TIMEOUT_USEC="); }));
    etcd.start(0);
    CHECK(daemon.says("etcd answers"));
    CHECK(daemon.says("svcd: ready"));
    CHECK(eventually([&] { return has(systemd.told(), "READY=1"); }));
    daemon.signal(SIGTERM);
    const auto ended = daemon.wait();
    REQUIRE(ended);
    CHECK(ended->code == 0);
}

TEST_CASE_METHOD(EtcdSetup, "svcd waits for an etcd that says nothing, and ends by a signal meanwhile") {
    EtcdCluster etcd;
    etcd.pause(0);
    for (const int signal : {SIGTERM, SIGINT}) {
        StartingDaemon daemon(flags({"--etcd-endpoints", etcd.endpoints()[0]}));
        REQUIRE(daemon.says(etcd.endpoints()[0] + " does not answer"));
        daemon.signal(signal);
        CHECK_FALSE(daemon.says("svcd: ready"));
        const auto ended = daemon.wait();
        REQUIRE(ended);
        CHECK(ended->signal == signal);
    }
}

// The kernel accepts for it; nobody reads.
TEST_CASE_METHOD(EtcdSetup,
                 "a signal ends svcd while it waits for an LXD that takes its request and is silent") {
    const EtcdCluster etcd;
    const FileDescriptor silent = net::bind_unix(path / "lxd.socket", 0600, -1);
    REQUIRE(::listen(silent.get(), 8) == 0);
    auto with_lxd =
        flags({"--etcd-endpoints", etcd.endpoints()[0], "--lxd", "unix:" + (path / "lxd.socket").string()});
    std::ranges::replace(with_lxd, std::string("simulated"), std::string("lxd"));
    StartingDaemon daemon(with_lxd);
    pollfd asked{silent.get(), POLLIN, 0};
    REQUIRE(::poll(&asked, 1, 60'000) == 1);
    daemon.signal(SIGTERM);
    CHECK_FALSE(daemon.says("waiting for LXD"));
    const auto ended = daemon.wait();
    REQUIRE(ended);
    CHECK(ended->signal == SIGTERM);
}

TEST_CASE_METHOD(EtcdSetup, "svcd does not wait for what is no etcd") {
    DaemonProcess other(path, {"metrics_listen: 127.0.0.1:0"});
    const std::string ready = other.ready_line();
    const std::size_t at = ready.find("http://");
    REQUIRE(at != std::string::npos);
    const DaemonRun run = this->run({"--etcd-endpoints", ready.substr(at, ready.find(' ', at) - at)});
    CHECK(run.status == 1);
    CHECK(has(run.output, " does not answer as etcd does"));
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

// Managers on one etcd, each with a state directory of its own.
struct ManagersOnEtcd : EtcdSetup {
    EtcdCluster etcd;
    std::filesystem::path folder(const std::string& name) const {
        make_directories(path / name / "state");
        return path / name;
    }
    std::vector<std::string> member(const std::string& name) const {
        return settings(etcd, {"manager_name: " + name, "manager_listen: 127.0.0.1:0"});
    }
    std::string owner() const { return etcd.control({"get", "--print-value-only", "/svc/owner"}); }
    static std::size_t online(ApiCaller& api) {
        const Json nodes = api.get("/1.0/nodes?recursion=1").metadata();
        return std::ranges::count_if(nodes.as_array(),
                                     [](const Json& node) { return node.at("status") == Json("online"); });
    }
};

TEST_CASE_METHOD(ManagersOnEtcd, "a leader that a node refuses begins anew in a higher term") {
    const DaemonProcess first(folder("m1"), member("m1"));
    eventually("it leads", [&] { return !owner().empty(); });
    CHECK(has(owner(), "\"term\":1}"));
    write_file_atomically(folder("m2") / "state" / "term", "9\n");  // etcd was restored from a backup
    const DaemonProcess second(folder("m2"), member("m2"));
    ApiCaller api(second.target());
    eventually("both nodes are online", [&] { return online(api) == 2; });
    CHECK(has(owner(), "\"term\":10}"));
}

TEST_CASE_METHOD(ManagersOnEtcd, "a manager with the name of a living one does not start, and says why") {
    const DaemonProcess first(folder("m1"), member("m1"));
    const DaemonRun clone = run({"--etcd-endpoints", join(etcd.endpoints(), ","), "--manager-name", "m1",
                                 "--manager-listen", "127.0.0.1:0"});
    CHECK(clone.status == 1);
    INFO(clone.output);
    CHECK(has(clone.output, "another manager named m1 lives at 127.0.0.1:"));
    CHECK(has(clone.output, ": give this one another manager_name"));
}

// As a state directory is after `daemon` has run on `etcd`: what changes it, and what does not.
struct ClusterOf : EtcdSetup {
    EtcdCluster etcd, other;
    std::string id, certificate;
    ClusterOf() {
        end(path);
        id = content("cluster.id");
        certificate = content("server/server.crt");
    }
    // A daemon that starts and ends: another one may lead at once.
    void end(const std::filesystem::path& folder) {
        DaemonProcess daemon(folder, settings(etcd));
        daemon.signal(SIGTERM);
        REQUIRE(daemon.wait());
    }
    std::string content(const std::string& file, const std::string& folder = ".") const {
        return std::string(trim(read_file(path / folder / "state" / file)));
    }
    DaemonRun refused(const EtcdCluster& by, std::vector<std::string> more = {}) const {
        more.insert(more.end(),
                    {"--state-dir", path / "state", "--store", "etcd", "--etcd-endpoints", by.endpoints()[0],
                     "--runtime", "simulated", "--socket", path / "s", "--listen", "none", "--metrics-listen",
                     "none", "--hypervisor-listen", "none"});
        return run_svcd(more);
    }
};

TEST_CASE_METHOD(ClusterOf, "a state directory of one cluster is not used with an etcd that is empty") {
    const DaemonRun run = refused(other);
    CHECK(run.status == 1);
    CHECK(has(run.output, "this state directory belongs to cluster " + id + ", but etcd has no cluster"));
    CHECK(other.control({"get", "--prefix", "--keys-only", "/svc/"}).empty());
    CHECK(content("cluster.id") == id);
    const DaemonProcess daemon(path, settings(other, {"new_cluster: yes"}));
    CHECK(content("cluster.id") != id);
    CHECK(content("server/server.crt") == certificate);
}

TEST_CASE_METHOD(ClusterOf, "a state directory of one cluster is not used with the etcd of another one") {
    std::filesystem::create_directories(path / "second");
    { const DaemonProcess daemon(path / "second", settings(other)); }
    const std::string foreign = content("cluster.id", "second");
    const std::string before = other.control({"get", "--prefix", "/svc/"});
    const DaemonRun run = refused(other);
    CHECK(run.status == 1);
    CHECK(has(run.output, "this state directory belongs to cluster " + id +
                              ", but etcd has the records of cluster " + foreign));
    CHECK(other.control({"get", "--prefix", "/svc/"}) == before);
    const DaemonProcess living(path / "second", settings(other));
    CHECK(has(refused(other, {"--new-cluster", "yes"}).output, "another svcd works on the records"));
}

TEST_CASE_METHOD(ClusterOf, "a new state directory takes over the files of the cluster") {
    std::filesystem::create_directories(path / "second");
    end(path / "second");
    for (const char* const file : {"cluster.id", "server/server.crt", "server/server.key", "tokens.key",
                                   "registry/client.crt", "registry/client.key"}) {
        INFO(file);
        CHECK(content(file) == content(file, "second"));
        CHECK((std::filesystem::status(path / "second/state" / file).permissions() &
               std::filesystem::perms(077)) == std::filesystem::perms::none);
    }
    CHECK(content("manager.id") != content("manager.id", "second"));
}

TEST_CASE_METHOD(ClusterOf, "a state directory whose records are in etcd begins no database") {
    const DaemonRun run =
        run_svcd({"--state-dir", path / "state", "--store", "sqlite", "--runtime", "simulated", "--socket",
                  path / "s", "--listen", "none", "--metrics-listen", "none", "--hypervisor-listen", "none"});
    CHECK(run.status == 1);
    CHECK(has(run.output, "the records of this state directory are in etcd, of cluster " + id));
    CHECK_FALSE(std::filesystem::exists(path / "state/svc.db"));
}

TEST_CASE_METHOD(EtcdSetup, "a state directory with a database is not used with etcd") {
    const EtcdCluster etcd;
    { const DaemonProcess daemon(path); }
    REQUIRE(std::filesystem::exists(path / "state/svc.db"));
    const DaemonRun run =
        run_svcd({"--state-dir", path / "state", "--store", "etcd", "--etcd-endpoints", etcd.endpoints()[0],
                  "--runtime", "simulated", "--socket", path / "s", "--listen", "none", "--metrics-listen",
                  "none", "--hypervisor-listen", "none"});
    CHECK(run.status == 1);
    CHECK(has(run.output, "the records of this state directory are in svc.db"));
    CHECK(etcd.control({"get", "--prefix", "--keys-only", "/svc/"}).empty());
}

TEST_CASE_METHOD(ClusterOf, "tools do not read a database that is older than the records in etcd") {
    write_file_atomically(path / "state/svc.db", "");
    const DaemonRun check = run_svcd({"check", "--state-dir", path / "state", "--runtime", "simulated"});
    CHECK(check.status == 1);
    CHECK(has(check.output, "the records of this state directory are in etcd"));
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
