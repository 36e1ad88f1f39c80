#include "instance-agent/agent/phases/packages.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/formats/pack.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/agent/phases/place.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using test::Place;

namespace {

// The artifacts of a service behind a real server. `spoil` changes what the n-th request (from 1) gets.
class Artifacts {
  public:
    explicit Artifacts(Place& place) : place_(place) {}

    // A package that is fetched, of these files.
    PackageRef& add(const std::string& name, const std::vector<std::pair<std::string, std::string>>& hooks,
                    bool application = false) {
        PackageRef& package = place_.add_package(name, hooks, application);
        const auto file = place_.path() / "package";
        pack_directory(place_.paths.directory_of(package), file);
        remove_tree(place_.paths.directory_of(package));
        const std::string bytes = read_file(file);
        package.fingerprint = sha256_hex(bytes);
        package.size = bytes.size();
        package.fetch = true;
        serve(package.fingerprint, bytes);
        return package;
    }

    void serve(const std::string& fingerprint, const std::string& bytes) {
        server_.service.add("/1.0/artifacts/" + fingerprint, [this, bytes](Request& request) {
            Response response;
            response.body = bytes;
            const std::lock_guard lock(mutex_);
            ++requests;
            if (request.headers.get("Authorization") != "bearer secret-token") response.status = 403;
            if (spoil) spoil(requests, response);
            return response;
        });
    }

    void start() {
        server_.start();
        place_.session.service_socket = server_.unix_target().unix_path.string();
    }

    int requests = 0;
    std::function<void(int, Response&)> spoil;

  private:
    Place& place_;
    std::mutex mutex_;
    test::TestServer server_;
};

}  // namespace

TEST_CASE("packages are fetched, unpacked, and their hooks run, all installs first") {
    Place place;
    place.session.instance_type = "base";
    Artifacts artifacts(place);
    artifacts.add("ssh", {{"pre-start", test::note_order(place, "pre-ssh")},
                          {"install", test::note_order(place, "install-ssh")}});
    artifacts.add("game", {{"install", test::note_order(place, "install-game")}}, true);
    artifacts.start();
    const auto failure = place.prepare(call_directly);
    CHECK((failure ? failure->error_message : "") == "");
    CHECK(place.read("order") == "install-ssh\ninstall-game\npre-ssh\n");
    CHECK(std::filesystem::is_empty(place.paths.downloads()));
    CHECK(artifacts.requests == 2);
}

TEST_CASE("what lies unpacked already is not fetched again, another version is") {
    Place place;
    Artifacts artifacts(place);
    artifacts.add("ssh", {{"restore", "echo state >> \"$ADDON_DIR/state\""}});
    artifacts.start();
    CHECK_FALSE(place.prepare(call_directly));
    CHECK_FALSE(place.prepare(call_directly));
    CHECK(artifacts.requests == 1);
    CHECK(place.read("data/addons/ssh/state") == "state\nstate\n");
    place.session.packages[0].fingerprint = std::string(64, 'a');
    CHECK(place.prepare(call_directly)->error_code == 6);
    remove_tree(place.paths.addons() / "ssh");
    CHECK_FALSE(agent::is_unpacked(place.paths, place.session.packages[0]));
}

TEST_CASE("a fetch that fails is tried three times, then reported") {
    Place place;
    Artifacts artifacts(place);
    artifacts.add("ssh", {{"restore", "true"}});
    artifacts.spoil = [](int, Response& response) {
        response.status = 503;
        response.body = R"({"error":"too busy"})";
    };
    artifacts.start();
    const auto failure = place.prepare(call_directly);
    REQUIRE(failure);
    CHECK(failure->status == "error");
    CHECK(failure->error_code == 6);
    CHECK(failure->error_message == "cannot fetch addon ssh: the service answered 503: too busy");
    CHECK(artifacts.requests == 3);
    CHECK(place.clock.waits == 2);
}

TEST_CASE("the second try may succeed") {
    Place place;
    Artifacts artifacts(place);
    artifacts.add("ssh", {{"restore", "true"}});
    artifacts.spoil = [](int request, Response& response) {
        if (request == 1) response.body.pop_back();
    };
    artifacts.start();
    CHECK_FALSE(place.prepare(call_directly));
    CHECK(artifacts.requests == 2);
}

TEST_CASE("bytes that are not the package are refused") {
    const auto [name, change] = GENERATE(table<std::string, void (*)(std::string&)>({
        {"digest", [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; }},
        {"larger", [](std::string& bytes) { bytes += "x"; }},
        {"smaller", [](std::string& bytes) { bytes.pop_back(); }},
    }));
    INFO(name);
    Place place;
    Artifacts artifacts(place);
    artifacts.add("ssh", {{"restore", test::note_order(place, "ran")}});
    artifacts.spoil = [&change = change](int, Response& response) { change(response.body); };
    artifacts.start();
    const auto failure = place.prepare(call_directly);
    REQUIRE(failure);
    CHECK_THAT(failure->error_message, Catch::Contains(name));
    CHECK(artifacts.requests == 3);
    CHECK_FALSE(place.has("order"));
    CHECK_FALSE(place.has("data/addons/ssh"));
}

TEST_CASE("a refusal of the service is not asked about again") {
    Place place;
    Artifacts artifacts(place);
    artifacts.add("ssh", {{"restore", "true"}});
    place.session.token = "another";
    artifacts.start();
    CHECK_THAT(place.prepare(call_directly)->error_message, Catch::Contains("the service answered 403"));
    CHECK(artifacts.requests == 1);
}

TEST_CASE("a package that cannot be unpacked is a failed installation") {
    Place place;
    Artifacts artifacts(place);
    PackageRef& package = artifacts.add("ssh", {{"restore", "true"}});
    package.fingerprint = sha256_hex("no archive");
    package.size = 10;
    artifacts.serve(package.fingerprint, "no archive");
    artifacts.start();
    const auto failure = place.prepare(call_directly);
    REQUIRE(failure);
    CHECK(failure->error_code == 3);
    CHECK_THAT(failure->error_message, Catch::StartsWith("cannot unpack addon ssh: "));
}

TEST_CASE("a fetch ends with the time of the instance") {
    Place place;
    Artifacts artifacts(place);
    artifacts.add("ssh", {{"restore", "true"}});
    place.session.boot_timeout_seconds = 1;
    const auto failure = place.prepare(Place::nobody);
    REQUIRE(failure);
    CHECK(failure->error_code == 5);
    CHECK(place.clock.passed <= std::chrono::seconds(2));
}
