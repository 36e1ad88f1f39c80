#include "libsvc/services/addons/addon_service.h"

#include <atomic>
#include <barrier>
#include <thread>

#include "tests/unit/services/package_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

using Files = std::map<std::string, std::string>;

Files files(const std::string& hook = "#!/bin/sh\n") {
    return {{"manifest.yaml",
             "name: ssh\ndescription: a shell\nprovides: {abi-support: [armeabi]}\nhooks: {timeout: 90s}\n"},
            {"hooks/install", hook},
            {"hooks/pre-start", hook},
            {"hooks/helper.sh", "not a hook"}};
}

struct AddonFixture : PackageFixture {
    std::shared_ptr<const Addon> add(const std::string& name = "ssh") {
        const auto done =
            wait(addons().create({name}, tarball(files("#!/bin/sh\necho " + name)), "", "test"));
        REQUIRE(done->err.empty());
        return addons().get(name);
    }
    void update(const std::string& text, const std::string& name = "ssh") {
        REQUIRE(wait(addons().update(name, tarball(files(text)), "", "test"))->err.empty());
    }
    std::string refusal(const Files& content, unsigned hook_mode = 0755) {
        const std::string message =
            message_of([&] { addons().create({"x"}, tarball(content, hook_mode), "", "test"); });
        CHECK(addons().list().empty());
        CHECK(blobs.list().empty());
        return message;
    }
    // A life of the daemon that ended right after it took the request; returns the operation that the next
    // one goes on with.
    std::string begin_deletion(const std::function<void(Addon&)>& mark, const char* kind = "addon.delete") {
        Operation operation;
        operation.id = OperationId(ids.uuid());
        operation.kind = kind;
        operation.claims = {"addons/ssh"};
        operation.arguments = Json::object({{"addon", "ssh"}, {"version", 0}});
        life->addons.update("ssh", mark);
        end_life();
        sqlite.commit(Batch().put("operations/" + operation.id.str(), operation_to_store(operation).dump()));
        restart();
        return operation.id.str();
    }
    void add_user(const std::string& addon, int version) {
        add_application("candy", [&](Application& application) {
            application.addons = {addon};
            ApplicationVersion made;
            made.status = ImageStatus::active;
            made.manifest.name = "candy";
            made.packages = {addons().get(addon)->package(*addons().get(addon)->version(version), false)};
            application.versions = {made};
        });
    }
};

}  // namespace

TEST_CASE_METHOD(AddonFixture, "an uploaded addon is there at once, with what its package says") {
    std::vector<std::string> told;
    addons().on_new_version([&](const std::string& name) { told.push_back(name); });
    auto uploaded = tarball(files());
    const BlobInfo info = uploaded.info;
    const auto started = addons().create({"ssh"}, std::move(uploaded), info.digest, "uid=0");
    const auto addon = addons().get("ssh");
    CHECK(started->description == "Creating addon");
    CHECK(started->resources.at("addons").at(0) == "/1.0/addons/ssh");
    CHECK(started->may_cancel);
    const auto done = wait(started);
    CHECK(done->status == OperationStatus::success);
    CHECK(done->requestor == "uid=0");
    REQUIRE(addon->versions.size() == 1);
    CHECK(addon->versions[0].version == 0);
    CHECK(addon->versions[0].fingerprint == info.digest);
    CHECK(addon->versions[0].size == info.size);
    CHECK(addon->versions[0].hooks == std::vector<std::string>{"install", "pre-start"});
    CHECK(addon->versions[0].abi_support == std::vector<std::string>{"armeabi"});
    CHECK(addon->versions[0].hook_timeout_seconds == 90);
    CHECK(addon->versions[0].description == "a shell");
    CHECK(blobs.contains(info.digest));
    CHECK(told == std::vector<std::string>{"ssh"});
}

TEST_CASE_METHOD(AddonFixture, "a package that is no addon is refused whole") {
    Files nameless = files();
    nameless.erase("manifest.yaml");
    CHECK(refusal(nameless) == "manifest.yaml not found");
    Files broken = files();
    broken["manifest.yaml"] = "name: [";
    CHECK_THAT(refusal(broken), Catch::StartsWith("manifest is malformed: malformed YAML at line"));
    broken["manifest.yaml"] = "hooks: {timeout: 1h}";
    CHECK(refusal(broken) == "manifest is malformed: argument hooks.timeout is invalid: '1h' is above 15m");
    broken["manifest.yaml"] = "";
    CHECK_THAT(refusal(broken), Catch::StartsWith("manifest is malformed"));
    CHECK(refusal({{"manifest.yaml", "name: x"}, {"hooks/other", ""}}) == "at least one hook is required");
    CHECK(refusal({{"manifest.yaml", "name: x"}}) == "at least one hook is required");
    CHECK(refusal({{"manifest.yaml", "name: x"}, {"hooks/install", ""}}, 0644) ==
          "hooks/install not executable");
    CHECK(refusal({{"manifest.yaml", "name: x"}, {"hooks/install/file", ""}}) ==
          "hooks/install not executable");
    CHECK(code_of([&] { addons().create({"x"}, upload("hello"), "", "test"); }) ==
          ErrorCode::invalid_argument);
    CHECK(code_of([&] { addons().create({"x"}, upload(""), "", "test"); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { addons().create({"x"}, tarball(files()), std::string(64, 'a'), "test"); }) ==
          ErrorCode::invalid_argument);
    CHECK(blobs.list().empty());
}

TEST_CASE_METHOD(AddonFixture, "the name of an addon is the one asked for, whatever its manifest says") {
    add("other");
    CHECK(addons().get("other")->name == "other");
    CHECK(code_of([&] { addons().get("ssh"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { addons().check_create({"a b"}); }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(AddonFixture, "a name of an addon is taken once, also by uploads at the same moment") {
    add();
    CHECK(message_of([&] { addons().check_create({"ssh"}); }) == "addon already exists");
    std::atomic<int> made{0}, refused{0};
    std::vector<UploadedPackage> packages;
    for (int i = 0; i < 4; ++i) packages.push_back(tarball(files("# " + std::to_string(i))));
    {
        std::vector<std::jthread> threads;
        for (UploadedPackage& package : packages)
            threads.emplace_back([&] {
                try {
                    wait(addons().create({"vnc"}, std::move(package), "", "test"));
                    ++made;
                } catch (const Error& e) {
                    if (e.code() == ErrorCode::conflict) ++refused;
                }
            });
    }
    CHECK(made == 1);
    CHECK(refused == 3);
    CHECK(blobs.list().size() == 2);
}

TEST_CASE_METHOD(AddonFixture, "updates count up, the same package is none") {
    add();
    update("# 1");
    CHECK(addons().get("ssh")->newest()->version == 1);
    CHECK(message_of([&] { addons().update("ssh", tarball(files("# 1")), "", "test"); }) ==
          "addon not changed");
    CHECK(code_of([&] { addons().check_update("none"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { addons().update("none", tarball(files()), "", "test"); }) == ErrorCode::not_found);
    CHECK(blobs.list().size() == 2);
}

TEST_CASE_METHOD(AddonFixture, "no update is lost when several come at once") {
    add();
    std::vector<UploadedPackage> packages;
    for (int i = 0; i < 4; ++i) packages.push_back(tarball(files("# " + std::to_string(i))));
    {
        std::vector<std::jthread> threads;
        for (UploadedPackage& package : packages)
            threads.emplace_back([&] { wait(addons().update("ssh", std::move(package), "", "test")); });
    }
    const auto addon = addons().get("ssh");
    REQUIRE(addon->versions.size() == 5);
    for (int i = 0; i < 5; ++i) CHECK(addon->versions[static_cast<std::size_t>(i)].version == i);
    CHECK(blobs.list().size() == 5);
}

TEST_CASE_METHOD(AddonFixture,
                 "a deleted addon version goes with its package, its number is not used again") {
    add();
    update("# 1");
    const std::string going = addons().get("ssh")->newest()->fingerprint;
    CHECK(message_of([&] { addons().remove_version("ssh", 7, "test"); }) == "addon version not found");
    const auto done = wait(addons().remove_version("ssh", 1, "test"));
    CHECK(done->description == "Deleting addon version");
    CHECK(done->err.empty());
    CHECK_FALSE(blobs.contains(going));
    CHECK(message_of([&] { addons().remove_version("ssh", 0, "test"); }) ==
          "deleting the last version of an addon not allowed");
    update("# 2");
    CHECK(addons().get("ssh")->newest()->version == 2);
}

TEST_CASE_METHOD(AddonFixture,
                 "of two deletions at the same moment that would leave no version one is refused") {
    add();
    for (int round = 0; round < 20; ++round) {
        update("# round " + std::to_string(round));
        const auto present = addons().get("ssh");
        REQUIRE(present->versions.size() == 2);
        std::barrier together(2);
        const auto remove = [&](std::size_t which) {
            together.arrive_and_wait();
            try {
                wait(addons().remove_version("ssh", present->versions.at(which).version, "test"));
            } catch (const Error&) {
                return;
            }
        };
        std::jthread other([&] { remove(1); });
        remove(0);
        other.join();
        REQUIRE(addons().get("ssh")->versions.size() == 1);
    }
}

TEST_CASE_METHOD(AddonFixture, "a deleted addon leaves nothing, and its name is free") {
    add();
    update("# 1");
    CHECK(wait(addons().remove("ssh", "test"))->err.empty());
    CHECK(addons().list().empty());
    CHECK(blobs.list().empty());
    CHECK(code_of([&] { addons().remove("ssh", "test"); }) == ErrorCode::not_found);
    CHECK(add()->versions[0].version == 0);
}

TEST_CASE_METHOD(AddonFixture, "an addon that an application uses stays, and says so") {
    add();
    update("# 1");
    CHECK(addons().describe(*addons().get("ssh")).at("used_by").is_null());
    add_user("ssh", 0);
    CHECK(addons().describe(*addons().get("ssh")).at("used_by").dump() == R"(["candy"])");
    CHECK(code_of([&] { addons().remove("ssh", "test"); }) == ErrorCode::busy);
    CHECK(message_of([&] { addons().remove("ssh", "test"); }) == "addon is in use");
    CHECK(message_of([&] { addons().remove_version("ssh", 0, "test"); }) == "addon is in use");
    CHECK(wait(addons().remove_version("ssh", 1, "test"))->err.empty());
}

TEST_CASE_METHOD(AddonFixture, "an addon of every application stays") {
    add();
    configure("application.addons", "ssh");
    CHECK(message_of([&] { addons().remove("ssh", "test"); }) == "addon is in use");
    configure("application.addons", "");
    CHECK(wait(addons().remove("ssh", "test"))->err.empty());
}

TEST_CASE_METHOD(AddonFixture,
                 "an addon that an instance is about to fetch stays until the instance has it") {
    const auto addon = add();
    Instance instance;
    instance.id = InstanceId(ids.object_id());
    instance.packages = {addon->package(addon->versions[0], true)};
    life->instances.create(instance);
    CHECK(message_of([&] { addons().remove("ssh", "test"); }) == "addon is in use");
    life->instances.update(instance.id.str(), [](Instance& i) { i.status = InstanceStatus::running; });
    CHECK(wait(addons().remove("ssh", "test"))->err.empty());
}

TEST_CASE_METHOD(AddonFixture, "an addon that came into use while it was being deleted stays as it was") {
    add();
    update("# 1");
    add_user("ssh", 1);
    const std::string id = begin_deletion([](Addon& addon) { addon.deleting = true; });
    CHECK(engine().wait(id, std::nullopt)->err == "addon is in use");
    CHECK_FALSE(addons().get("ssh")->deleting);
    CHECK(blobs.list().size() == 2);
}

TEST_CASE_METHOD(AddonFixture,
                 "a version stays when the update that it was not the last beside was cancelled") {
    add();
    const std::string id =
        begin_deletion([](Addon& addon) { addon.versions[0].deleting = true; }, "addon.delete_version");
    CHECK(engine().wait(id, std::nullopt)->err == "deleting the last version of an addon not allowed");
    REQUIRE(addons().get("ssh")->versions.size() == 1);
    CHECK_FALSE(addons().get("ssh")->versions[0].deleting);
    CHECK(blobs.list().size() == 1);
}

TEST_CASE_METHOD(AddonFixture, "an addon whose record cannot be stored leaves nothing") {
    auto uploaded = tarball(files());
    store.fail_next(ErrorCode::exhausted);
    CHECK(code_of([&] { addons().create({"ssh"}, std::move(uploaded), "", "test"); }) ==
          ErrorCode::exhausted);
    CHECK(addons().list().empty());
    CHECK(blobs.list().empty());
}

TEST_CASE_METHOD(AddonFixture, "what could not be ended is undone") {
    store.fail_commit(store.commits() + 2, ErrorCode::internal);
    CHECK(wait(addons().create({"ssh"}, tarball(files()), "", "test"))->status == OperationStatus::failure);
    CHECK(addons().list().empty());
    CHECK(blobs.list().empty());
    add();
    store.fail_commit(store.commits() + 2, ErrorCode::internal);
    CHECK(wait(addons().update("ssh", tarball(files("# 1")), "", "test"))->status ==
          OperationStatus::failure);
    CHECK(addons().get("ssh")->versions.size() == 1);
    CHECK(blobs.list().size() == 1);
    update("# 2");
    store.fail_commit(store.commits() + 2, ErrorCode::internal);
    CHECK(wait(addons().remove_version("ssh", 0, "test"))->status == OperationStatus::failure);
    CHECK_FALSE(addons().get("ssh")->version(0)->deleting);
    CHECK(blobs.list().size() == 2);
}

TEST_CASE_METHOD(AddonFixture, "a daemon killed between package and record leaves no package behind") {
    add();
    auto uploaded = tarball(files("# lost"));
    uploaded.blob->commit();
    restart();
    CHECK(blobs.list().size() == 1);
    CHECK(blobs.contains(addons().get("ssh")->versions[0].fingerprint));
}

TEST_CASE_METHOD(AddonFixture, "an interrupted deletion is finished by the next life of the daemon") {
    add();
    const std::string id = begin_deletion([](Addon& addon) { addon.deleting = true; });
    CHECK(engine().wait(id, std::nullopt)->status == OperationStatus::success);
    CHECK(addons().list().empty());
    CHECK(blobs.list().empty());
}

TEST_CASE_METHOD(AddonFixture, "the entity tag of an addon changes with its versions") {
    const std::string before = addons().etag(*add());
    CHECK(before.size() == 64);
    update("# 1");
    CHECK(addons().etag(*addons().get("ssh")) != before);
}
