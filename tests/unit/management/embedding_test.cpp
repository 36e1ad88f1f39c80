// A program that embeds the service: what svcd does without HTTP.
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <latch>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/management/management_service.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/image_package.h"

std::string launch_one(const std::filesystem::path& state, const std::string& package);  // docs/embedding.md

namespace svc::test {

namespace {

// Seams that outlive the service, so that it can be restarted over them.
struct Host {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-embedding-"};
    SystemClock clock;
    SystemIdSource ids{clock};
    EventBus events{clock};
    SqliteStore store{":memory:"};
    DirBlobStore blobs{{directory.path() / "blobs"}};
    GuestReports reports;
    SimulatedRuntime runtime{clock, simulation()};
    ImageServerFactory open_images = open_image_server;
    std::optional<ManagementService> service;

    SimulatedOptions simulation() {
        SimulatedOptions options;
        options.report_running = [this](std::string_view id) { reports.running(id); };
        return options;
    }
    void build() {
        ManagementOptions options;
        options.token_secret = directory.path() / "tokens.key";
        options.registry_keys = directory.path() / "registry";
        options.engine.workers = 4;
        options.bulk_deletions_at_once = 2;
        ManagementSeams seams{store, blobs, runtime, runtime.layers(), events, clock, ids, &reports};
        seams.open_image_server = open_images;
        service.emplace(std::move(seams), std::move(options));
    }
    void begin() {
        build();
        service->start();
    }
    void restart() {
        CHECK(service->stop(std::chrono::seconds(10)));
        service.reset();
        begin();
    }
    void succeed(const Started& started) {
        REQUIRE(service->engine().wait(started->id.str(), {})->err == "");
    }
    void add_image() {
        const std::string bytes = image_package();
        UploadedPackage upload;
        upload.blob = blobs.create(bytes.size());
        upload.blob->write(bytes);
        upload.info = upload.blob->finish();
        succeed(service->images().create({"base", std::nullopt}, std::move(upload), "", "test"));
    }
    Started launch() {
        InstanceCreate request;
        request.image_id = "base";
        request.instance_type = "a2.3";
        return service->instances().launch(request, false, PathWord::instances, "test");
    }
    std::string launched() {
        const Started started = launch();
        succeed(started);
        return started->arguments.at("instance").as_string();
    }
};

// An image server without images.
struct EmptyImageServer final : ImageServer {
    std::vector<OfferedImage> list() override { return {}; }
    void download(const OfferedImage&, const std::function<void(std::string_view)>&) override {}
};

}  // namespace

TEST_CASE_METHOD(Host, "an embedded service launches an instance and finds it again after a restart") {
    begin();
    add_image();
    const std::string id = launched();
    CHECK(service->instances().records().get(id)->status == InstanceStatus::running);
    restart();
    CHECK(service->instances().records().get(id)->status == InstanceStatus::running);
    const std::string other = launched();
    succeed(service->bulk_deletion().remove("instances", {{id, other}, true}, "test"));
    CHECK(runtime.list().empty());
}

TEST_CASE_METHOD(Host, "an embedded service that has stopped answers questions and refuses work") {
    begin();
    add_image();
    const std::string id = launched();
    CHECK(service->stop(std::chrono::seconds(10)));
    CHECK(service->instances().records().get(id)->status == InstanceStatus::running);
    CHECK(code_of([&] { launch(); }) == ErrorCode::unavailable);
    CHECK(service->stop(Duration(0)));
}

TEST_CASE_METHOD(Host, "an embedded service says when it stops before its work has ended") {
    build();
    service->nodes().recover();  // all but the rest: nobody takes the guest's report
    add_image();
    launch();
    CHECK_FALSE(service->stop(Duration(0)));
}

TEST_CASE_METHOD(Host, "an embedded service connects its services with each other") {
    begin();
    add_image();
    const std::string id = launched();
    const std::string node = service->nodes().local_name();
    NodeRemoval forced;
    forced.force = true;
    CHECK(code_of([&] { service->nodes().remove(node, {}, "test"); }) == ErrorCode::conflict);
    CHECK(service->instances().records().get(id)->node == node);
    CHECK(service->engine()
              .wait(service->nodes().remove(node, forced, "test")->id.str(), std::nullopt)
              ->err.empty());
    CHECK(code_of([&] { service->instances().records().get(id); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(Host, "an embedding program may bring an image server of its own") {
    std::atomic<int> opened{0};
    std::atomic<bool> url_is_set{true};
    std::latch asked(1);
    open_images = [&](const ImageServerOptions& options) {
        if (options.url != "https://images.example") url_is_set = false;
        if (++opened == 1) asked.count_down();
        return std::make_unique<EmptyImageServer>();
    };
    begin();
    succeed(service->config().patch({"images.url", "https://images.example"}, "test"));
    asked.wait();
    CHECK(service->stop(std::chrono::seconds(10)));
    CHECK(url_is_set);
}

TEST_CASE("the example of the page about embedding launches an instance") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "svc-example-");
    CHECK_FALSE(launch_one(directory.path(), image_package()).empty());
}

}  // namespace svc::test
