// Snapshots of instances: failures, crashes, and what goes with what.
#include "libsvc/services/snapshots/snapshot_service.h"

#include "libsvc/base/file.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/yaml.h"
#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string read_whole(ArchiveStream& archive) {
    std::string all;
    for (std::string part = archive.read(1000); !part.empty(); part = archive.read(1000)) all += part;
    return all;
}

struct SnapshotFixture : InstanceFixture {
    SnapshotService& service() { return life->management.snapshots(); }
    Snapshots& records() { return life->management.records().snapshots; }
    std::string stopped() {
        const std::string id = launched();
        wait(instances().set_desired_status(id, "stopped", false, PathWord::instances, "test"));
        return id;
    }
    Started taking(const std::string& id) { return service().create(id, SnapshotCreate{"before"}, "test"); }
    std::string taken(const std::string& id) {
        const auto done = wait(taking(id));
        REQUIRE(done->err == "");
        return service().get(id, "before")->id.str();
    }
    bool has_layer(const std::string& snapshot) { return layers.contains("snapshot-" + snapshot); }
};

}  // namespace

TEST_CASE_METHOD(SnapshotFixture, "a snapshot that fails leaves neither record nor layer") {
    const std::string id = stopped();
    layers.before_capture([] { throw Error(ErrorCode::exhausted, "disk is full"); });
    const auto done = wait(taking(id));
    CHECK(done->err == "disk is full");
    CHECK(service().list(id).empty());
    CHECK(records().list().empty());
    layers.before_capture(nullptr);
    CHECK(has_layer(taken(id)));
}

TEST_CASE_METHOD(SnapshotFixture, "nothing else is done with the instance while its disk is copied") {
    const std::string id = stopped();
    Gate gate;
    layers.before_capture([&] { gate.pass(); });
    const auto copy = taking(id);
    gate.await();
    CHECK(code_of([&] { taking(id); }) == ErrorCode::conflict);
    CHECK(code_of([&] { service().create(id, SnapshotCreate{}, "test"); }) == ErrorCode::busy);
    CHECK(code_of([&] {
              instances().set_desired_status(id, "running", true, PathWord::instances, "test");
          }) == ErrorCode::busy);
    gate.open();
    CHECK(wait(copy)->status == OperationStatus::success);
}

TEST_CASE_METHOD(SnapshotFixture, "a copy that a restart cut off is made by the next life") {
    const std::string id = stopped();
    freezing_store.freeze_after(1);  // the request is stored, its end is not
    const std::string operation = taking(id)->id.str();
    crash_at_commit();
    begin_life();
    CHECK(engine().wait(operation, std::nullopt)->status == OperationStatus::success);
    CHECK(service().get(id, "before")->status == SnapshotStatus::ready);
}

TEST_CASE_METHOD(SnapshotFixture, "snapshots go with their instance, and their layers with them") {
    const std::string id = stopped();
    const std::string snapshot = taken(id);
    service().remove_orphans();
    CHECK(records().find(snapshot));
    wait(instances().remove(id, false, PathWord::instances, "test"));
    CHECK(has_layer(snapshot));
    service().remove_orphans();
    for (const auto& operation : engine().list()) engine().wait(operation->id.str(), std::nullopt);
    CHECK_FALSE(records().find(snapshot));
    CHECK_FALSE(has_layer(snapshot));
}

TEST_CASE_METHOD(SnapshotFixture, "an instance whose record cannot be read keeps its snapshots") {
    const std::string id = stopped();
    const std::string snapshot = taken(id);
    end_life();
    sqlite.commit(Batch().put("instances/" + id, "{"));
    begin_life();
    const auto remove_orphans = [&] {
        service().remove_orphans();
        for (const auto& operation : engine().list()) engine().wait(operation->id.str(), std::nullopt);
    };
    remove_orphans();
    CHECK(records().find(snapshot));
    CHECK(has_layer(snapshot));
    const auto removal = life->management.unreadable().remove("instances/", id, "test");
    REQUIRE(removal);
    CHECK(wait(*removal)->err.empty());
    remove_orphans();
    CHECK_FALSE(records().find(snapshot));
    CHECK_FALSE(has_layer(snapshot));
}

TEST_CASE_METHOD(SnapshotFixture, "a launched instance keeps the layer of its snapshot") {
    const std::string id = stopped();
    const std::string snapshot = taken(id);
    InstanceCreate request;
    request.snapshot = snapshot;
    const auto launch = wait(instances().launch(request, false, PathWord::instances, "test"));
    REQUIRE(launch->err == "");
    const std::string second =
        launch->resources.at("instances").at(0).substr(std::string("/1.0/instances/").size());
    wait(service().remove(id, "before", "test"));
    CHECK_FALSE(records().find(snapshot));
    CHECK(has_layer(snapshot));
    wait(instances().remove(second, true, PathWord::instances, "test"));
    CHECK_FALSE(has_layer(snapshot));
}

TEST_CASE_METHOD(SnapshotFixture, "an export has the disk and what its image says of the guest") {
    const std::string id = stopped();
    taken(id);
    SnapshotExport exported = service().export_archive(id, "before");
    CHECK(exported.file_name == "svc-" + id + "-" + service().get(id, "before")->id.str() + ".tar.gz");
    const std::string archive = read_whole(*exported.archive);
    CHECK(archive == read_whole(*service().export_archive(id, "before").archive));
    const auto file = directory.path() / "export.tar.gz";
    write_file_atomically(file, archive);
    bool searched_all = false;
    const ImageMetadata metadata = ImageMetadata::parse(
        parse_yaml(read_archive_member(file, "metadata.yaml", 1U << 20U, 1U << 30U, &searched_all).value()));
    const auto instance = life->management.records().instances.get(id);
    CHECK(metadata.architecture == instance->architecture);
    CHECK(metadata.init == instance->init);
    CHECK(metadata.image_variant == instance->image_variant);
    CHECK(metadata.ready == instance->ready);
    CHECK(metadata.properties.at("name") == Json("svc-" + id));
}

TEST_CASE_METHOD(SnapshotFixture, "the layers stay while an export is read") {
    const std::string id = stopped();
    const std::string snapshot = taken(id);
    SnapshotExport exported = service().export_archive(id, "before");
    wait(service().remove(id, "before", "test"));
    CHECK_FALSE(records().find(snapshot));
    CHECK(has_layer(snapshot));
    CHECK_FALSE(read_whole(*exported.archive).empty());
    exported.archive = nullptr;
    CHECK_FALSE(has_layer(snapshot));
}

TEST_CASE_METHOD(SnapshotFixture, "a snapshot that is being made or deleted is not exported") {
    const std::string id = stopped();
    const std::string snapshot = taken(id);
    for (const SnapshotStatus status : {SnapshotStatus::creating, SnapshotStatus::deleting}) {
        records().update(snapshot, [&](Snapshot& changed) { changed.status = status; });
        CHECK(code_of([&] { service().export_archive(id, "before"); }) == ErrorCode::invalid_argument);
    }
    CHECK(code_of([&] { service().export_archive(id, "nothing"); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(SnapshotFixture, "a launch from a snapshot has its platform unless it names another") {
    InstanceCreate original = request();
    original.config.platform = "swrast";
    const std::string id = launched(original);
    wait(instances().set_desired_status(id, "stopped", false, PathWord::instances, "test"));
    InstanceCreate copy;
    copy.snapshot = taken(id);
    CHECK(life->management.records().instances.get(launched(copy))->config->platform == "swrast");
    copy.config.platform = "webrtc";
    CHECK(life->management.records().instances.get(launched(copy))->config->platform == "webrtc");
}

TEST_CASE_METHOD(SnapshotFixture, "a snapshot whose deletion failed is ready") {
    const std::string id = stopped();
    const std::string snapshot = taken(id);
    store.fail_commit(store.commits() + 2, ErrorCode::internal);
    CHECK(wait(service().remove(id, "before", "test"))->status == OperationStatus::failure);
    CHECK(records().get(snapshot)->status == SnapshotStatus::ready);
    CHECK(has_layer(snapshot));
    wait(service().remove(id, "before", "test"));
    CHECK_FALSE(records().find(snapshot));
}

TEST_CASE_METHOD(SnapshotFixture, "a deletion whose failure was not stored is started again") {
    const std::string id = stopped();
    const std::string snapshot = taken(id);
    records().update(snapshot, [](Snapshot& left) { left.status = SnapshotStatus::deleting; });
    wait(service().remove(id, "before", "test"));
    CHECK_FALSE(records().find(snapshot));
}
