#include "tests/model/model_world.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tests/model/answers.h"
#include "tests/model/leftovers_check.h"
#include "tests/model/record_check.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"

namespace svc::test {

namespace {

void make_small(server::Options& options) {
    options.simulated.cpus = 6;  // room for twelve instances with the default rate
    options.simulated.start_delay = std::chrono::milliseconds(3);
    options.simulated.stop_delay = std::chrono::milliseconds(2);
    options.simulated.fail_share = 0.03;
    options.first_port = 10000;
    options.last_port = 10011;
    options.keep_operations = 1'000'000;
    options.workers = 8;
    options.operation_workers = 6;
    options.log_level = log::Level::error;
}

ModelMaterial make_material(const std::filesystem::path& directory) {
    ModelMaterial made;
    for (const char* text : {"one", "two", "three", "four"}) {
        made.images.push_back(image_package({.text = text}));
        made.addons.push_back(addon_package(text));
    }
    for (const char* name : {"ada", "ben", "cy"})
        made.certificates.push_back(read_file(make_key_pair(directory, name).certificate));
    return made;
}

class World {
  public:
    explicit World(const ModelRun& run) : run_(run) {}

    std::vector<std::string> go() {
        prepare();
        run_clients();
        if (std::getenv("SVC_MODEL_SUMMARY") != nullptr) std::cout << history_.summary() << std::flush;
        const OperationRecords operations = settle();
        follower_.await_ends(operations);
        const auto left = leftovers_of(daemon_.api());
        for (const ModelCall& call : history_.calls()) {
            check_answer(call, findings_);
            check_records(call, findings_);
        }
        check_shares(left.at("instances"), "at the end", findings_);
        check_existence(history_, operations, left, findings_);
        check_events(follower_.events(), operations, left.at("instances"), findings_);
        check_next_life(left);
        remove_everything(daemon_, findings_);
        return findings_.all();
    }

  private:
    // So that launches have a source from the first on.
    void prepare() {
        RandomClient client(daemon_.local_target(), material_, history_, run_.seed);
        for (const char* image : {"m0", "m1"}) {
            client.upload("images.create", image, Method::post, "/1.0/images",
                          Json::object({{"name", image}}).dump(), material_.images.front());
            client.wait_recent(0, "60");
        }
        for (const char* application : {"a0", "a1"})
            client.upload("applications.create", application, Method::post, "/1.0/applications", "",
                          application_package(application, "image: m0\n"));
        daemon_.api().settle();
    }

    void run_clients() {
        std::vector<std::jthread> threads;
        for (int i = 0; i < run_.clients; ++i)
            threads.emplace_back([this, i] {
                try {
                    RandomClient(daemon_.local_target(), material_, history_,
                                 run_.seed * 1000 + static_cast<unsigned>(i))
                        .run(run_.calls);
                } catch (const std::exception& e) {
                    findings_.add("client " + std::to_string(i) + " ended: " + e.what());
                }
            });
    }

    // Commands whose sockets never came are cancelled; all others end by themselves.
    OperationRecords settle() {
        for (const ModelCall& call : history_.calls())
            if (call.kind == "instances.exec" && call.accepted())
                daemon_.api().remove(call.reply.operation());
        daemon_.api().settle();
        for (const ModelCall& call : history_.calls())
            if (call.accepted()) daemon_.api().get(call.reply.operation() + "/wait?timeout=60");
        daemon_.api().settle();  // what followed from those
        OperationRecords all;
        const Json by_status = daemon_.api().get("/1.0/operations?recursion=1").metadata();
        for (const auto& [status, records] : by_status.as_object())
            for (const Json& record : records.as_array()) all.emplace(record.at("id").as_string(), record);
        return all;
    }

    // What was there before the end of the daemon is there after it. A start makes versions of applications
    // that are outdated, as any change of an image or addon does: not now.
    void check_next_life(const Leftovers& before) {
        daemon_.api().set("application.auto_update", "false");
        daemon_.restart();
        daemon_.api().settle();
        const Leftovers after = leftovers_of(daemon_.api());
        for (const auto& [noun, records] : before) {
            for (const Json& record : records)
                if (std::ranges::find(after.at(noun), record) == after.at(noun).end())
                    findings_.add("not there after a restart: " + record.dump());
            for (const Json& record : after.at(noun))
                if (std::ranges::find(records, record) == records.end())
                    findings_.add("there after a restart only: " + record.dump());
        }
    }

    const ModelRun run_;
    TestDaemon daemon_{[this](server::Options& options) {
        make_small(options);
        if (run_.etcd.empty()) return;
        options.store = "etcd";
        options.etcd.endpoints = run_.etcd;
    }};
    const ModelMaterial material_ = make_material(daemon_.path());
    History history_;
    Findings findings_;
    EventFollower follower_{daemon_.local_target()};
};

}  // namespace

std::vector<std::string> run_model(const ModelRun& run) {
    return World(run).go();
}

}  // namespace svc::test
