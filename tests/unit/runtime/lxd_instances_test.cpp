// What LXD is asked for while instances come and go, by a server that answers as LXD does.
#include "libsvc/runtime/lxd/instances.h"

#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <utility>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/presence.h"
#include "libsvc/net/http/response.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;

namespace {

lxc::StoredSpec lxd_spec(const std::string& id) {
    lxc::StoredSpec stored;
    stored.spec.id = id;
    stored.spec.name = "svc-" + id;
    stored.spec.address = "192.168.100.2";
    return stored;
}

// Of the ranges that this machine has for containers.
std::uint32_t range_at(int number) {
    return lxd::id_bases(is_there("/etc/subuid") ? read_file("/etc/subuid") : "")
        .at(static_cast<std::size_t>(number));
}

// An LXD with instances of others, which is the member m1 of a cluster.
struct FakeLxd {
    explicit FakeLxd(int others) {
        for (int i = 0; i < others; ++i) add("other" + std::to_string(i), range_at(i));
        server.service.add("/1.0/instances",
                           [this](Request& r) { return r.method == Method::get ? list(r) : create(r); });
        for (const char* id : {"a", "b", "c", "d"})
            server.service.add("/1.0/instances/svc-" + std::string(id),
                               [this](Request& r) { return one(r); });
        server.service.add("/1.0/instances/svc-a/files", [this](Request&) {
            if (failing_files-- <= 0) return answer(nullptr);
            return json_response(
                500, R"({"error": "dial unix .../forkfile.sock: connect: no such file or directory"})");
        });
        server.service.add("/1.0/instances/foreign", [this](Request& r) { return one(r); });
        server.start();
        options.pool = "pool";
        options.network.bridge = "svcbr0";
        options.network.subnet = "192.168.100.1/20";
        options.agent = "/usr/lib/svc/svc-agent";
        lxd.emplace(server.unix_target(), clock);
        instances.emplace(*lxd, options, "m1");
    }
    // Somebody makes one past the service.
    void add(const std::string& name, std::uint32_t base, const std::string& location = "m1") {
        add(name, Json::object({{lxd::id_base_key, std::to_string(base)}}), location);
    }
    void add(const std::string& name, Json config, const std::string& location) {
        const Json record = Json::object({{"name", name},
                                          {"location", location},
                                          {"status", "Running"},
                                          {"last_used_at", "2024-01-02T03:04:05Z"},
                                          {"config", std::move(config)},
                                          {"state", Json::object({{"pid", 7}})},
                                          {"devices", Json::object({})}});
        records.with([&](auto& all) { all[name] = record; });
    }
    std::uint32_t make(const std::string& id) {
        instances->make(lxd_spec(id), {}, "fingerprint");
        return base_of("svc-" + id);
    }
    std::uint32_t base_of(const std::string& name) {
        return records.with([&](auto& all) {
            return static_cast<std::uint32_t>(
                std::stoul(lxd::text_of(all.at(name).at("config"), lxd::id_base_key)));
        });
    }
    std::vector<std::string> asked() {
        return requests.with([](auto& all) { return std::exchange(all, {}); });
    }

    Guarded<std::map<std::string, Json>> records;
    Guarded<std::vector<std::string>> requests;
    TestServer server;
    ManualClock clock;
    LxdOptions options;
    std::optional<lxd::Connection> lxd;
    std::optional<lxd::Instances> instances;

  private:
    void note(const Request& request) {
        requests.with([&](auto& all) { all.push_back(request.method_text + " " + request.target); });
    }
    static Response answer(Json metadata) {
        return json_response(200, Json::object({{"type", "sync"}, {"metadata", std::move(metadata)}}).dump());
    }
    // LXD tells another member of its own instances alone.
    Response list(Request& request) {
        note(request);
        const bool own = request.headers.get("User-Agent") == "lxd-cluster-notifier";
        JsonArray all;
        records.with([&](const auto& known) {
            for (const auto& [name, record] : known)
                if (!own || lxd::text_of(record, "location") == "m1") all.push_back(record);
        });
        told = all.size();
        return answer(Json::array(std::move(all)));
    }
    Response create(Request& request) {
        note(request);
        const Json body = Json::parse(request.body);
        add(lxd::text_of(body, "name"), body.at("config"), request.query_value("target"));
        return answer(nullptr);
    }
    Response one(Request& request) {
        note(request);
        const std::string name = request.path.substr(request.path.rfind('/') + 1);
        return records.with([&](auto& all) {
            if (!all.contains(name)) return json_response(404, R"({"error": "Instance not found"})");
            if (request.method == Method::delete_) all.erase(name);
            return answer(request.method == Method::get ? all.at(name) : Json());
        });
    }

  public:
    std::atomic<std::size_t> told{0};   // instances in the last list
    std::atomic<int> failing_files{0};  // so many calls for files fail
};

}  // namespace

TEST_CASE("a creation asks LXD as often, whatever it has") {
    for (const int others : {0, 50}) {
        FakeLxd lxd(others);
        lxd.make("a");
        lxd.asked();
        lxd.make("b");
        CHECK(lxd.asked() ==
              std::vector<std::string>{"POST /1.0/instances?target=m1", "PATCH /1.0/instances/svc-b"});
    }
}

TEST_CASE("files are placed although the process for them ends now and then") {
    FakeLxd lxd(0);
    lxd.failing_files = 3;
    lxd.instances->make(lxd_spec("a"), {{"/etc/hostname", "a", 0644}}, "fingerprint");
    CHECK(lxd.failing_files < 0);
    lxd.failing_files = 1000;
    CHECK_THROWS_WITH(lxd.instances->change(lxd_spec("a"), {{"/etc/hostname", "b", 0644}}),
                      Catch::Contains("forkfile.sock"));
}

TEST_CASE("a list and the usage are one call each, and not of other members") {
    FakeLxd lxd(3);
    for (const char* id : {"a", "b", "c"}) lxd.make(id);
    lxd.add("elsewhere", 1, "m2");
    lxd.asked();
    CHECK(lxd.instances->all().size() == 3);
    CHECK(lxd.told == 6);
    const auto running = lxd.instances->running();
    REQUIRE(running.size() == 3);
    CHECK(running[0].instance.name == "svc-a");
    CHECK(running[0].state.at("pid").as_int() == 7);
    CHECK(lxd.asked() ==
          std::vector<std::string>{"GET /1.0/instances?recursion=1", "GET /1.0/instances?recursion=2"});
}

TEST_CASE("no two instances of a machine have the same user ids, whoever made them") {
    FakeLxd lxd(2);
    lxd.add("elsewhere", range_at(2), "m2");
    CHECK(lxd.make("a") == range_at(2));
    lxd.add("foreign", range_at(3));
    lxd.instances->note_change("foreign");
    CHECK(lxd.make("b") == range_at(4));
    lxd.instances->remove("a");
    CHECK(lxd.make("c") == range_at(2));
    lxd.records.with([](auto& all) { all.erase("foreign"); });
    lxd.instances->note_change("foreign");
    CHECK(lxd.make("d") == range_at(3));
}

TEST_CASE("LXD is asked for user ids again where its events were missed") {
    FakeLxd lxd(0);
    CHECK(lxd.make("a") == range_at(0));
    lxd.add("other", range_at(1));
    lxd.instances->note_change("");
    CHECK(lxd.make("b") == range_at(2));
}

TEST_CASE("ranges of instances that LXD does not know yet are taken, and of those that have gone free") {
    lxd::IdBases::Taken told;
    int asked = 0;
    lxd::IdBases bases({1, 2}, [&] { return ++asked, told; });
    CHECK(bases.take("a") == 1);
    told["b"] = {2};
    CHECK_THROWS(bases.forget(), bases.take("c"));
    told.clear();
    CHECK(bases.take("c") == 2);  // where none is free, LXD may know better
    bases.made("c");
    bases.free("a");
    bases.forget();
    CHECK(bases.take("d") == 1);
    CHECK(asked == 5);
}
