#include "libsvc/client/operation_waiter.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/unit/client/fake_service.h"

using namespace svc;
using namespace svc::test;

namespace {

Json operation_event(const Json& record) {
    return Json::object({{"type", "operation"}, {"metadata", record}});
}

// The service's operation: its status, and what a DELETE makes of it.
struct Operation {
    std::atomic<int> status{103}, asked{0}, cancels{0};
    int after_cancel = 401;
    Json answer(const Request& request) {
        if (request.method == Method::delete_) {
            ++cancels;
            status = after_cancel;
            return Json();
        }
        ++asked;
        return operation_record(status);
    }
};

// A service whose operation goes on until somebody cancels it.
struct EndlessOperation {
    explicit EndlessOperation(int after_cancel = 401) {
        operation.after_cancel = after_cancel;
        const auto answer = [this](const Request& request) { return operation.answer(request); };
        service.on(operation_path, answer);
        service.on(operation_path + "/wait", answer);
        service.start();
    }
    Json wait(const OperationWaitOptions& options) {
        ApiClient client(service.target());
        return OperationWaiter(client).wait(operation_id, options);
    }

    Operation operation;
    FakeService service;
};

}  // namespace

TEST_CASE("an operation that ended before the wait is found ended") {
    FakeService service;
    service.websocket("/1.0/events");
    service.on(operation_path, [](const Request&) { return operation_record(200); });
    service.start();
    ApiClient client(service.target());
    CHECK(OperationWaiter(client).wait(operation_id).at("status_code").as_int() == 200);
}

TEST_CASE("the end of an operation comes as an event, others' events are not taken for it") {
    FakeService service;
    const auto events = service.websocket("/1.0/events");
    service.on(operation_path, [&](const Request&) {
        Json other = operation_record(400);
        other.set("id", "other");
        events->socket()->send_text(operation_event(other).dump());
        events->socket()->send_text(operation_event(operation_record(103)).dump());
        events->socket()->send_text(operation_event(operation_record(200)).dump());
        return operation_record(103);
    });
    service.start();
    ApiClient client(service.target());
    int updates = 0;
    OperationWaitOptions options;
    options.on_update = [&](const Json&) { ++updates; };
    CHECK(OperationWaiter(client).wait(operation_id, options).at("status_code").as_int() == 200);
    CHECK(updates == 3);
}

TEST_CASE("without events the operation's wait is asked") {
    FakeService service;
    service.on(operation_path, [](const Request&) { return operation_record(103); });
    service.on(operation_path + "/wait", [](const Request&) { return operation_record(400, "no room"); });
    service.start();
    ApiClient client(service.target());
    CHECK(OperationWaiter(client).wait(operation_id).at("err").as_string() == "no room");
}

TEST_CASE("a service that drops the events in the middle is asked for the end") {
    FakeService service;
    const auto events = service.websocket("/1.0/events");
    service.on(operation_path, [&](const Request&) {
        events->socket()->abort();
        return operation_record(103);
    });
    service.on(operation_path + "/wait", [](const Request&) { return operation_record(200); });
    service.start();
    ApiClient client(service.target());
    CHECK(OperationWaiter(client).wait(operation_id).at("status_code").as_int() == 200);
}

TEST_CASE("an operation that takes too long is cancelled") {
    EndlessOperation endless;
    OperationWaitOptions options;
    options.timeout = std::chrono::milliseconds(1);
    CHECK_THROWS_WITH(endless.wait(options), "Operation timeout");
    CHECK(endless.operation.cancels == 1);
}

TEST_CASE("an operation that succeeds while being cancelled for time is a success") {
    EndlessOperation endless(200);
    OperationWaitOptions options;
    options.timeout = std::chrono::milliseconds(1);
    CHECK(endless.wait(options).at("status_code").as_int() == 200);
}

TEST_CASE("a requested cancel is asked for once and its end is the answer") {
    EndlessOperation endless;
    OperationWaitOptions options;
    options.cancel_requested = [] { return true; };
    CHECK(endless.wait(options).at("status_code").as_int() == 401);
    CHECK(endless.operation.cancels == 1);
}

TEST_CASE("a service that does not come back ends the wait") {
    auto service = std::make_unique<FakeService>();
    const auto events = service->websocket("/1.0/events");
    service->on(operation_path, [&](const Request&) { return operation_record(103); });
    service->start();
    ApiClient client(service->target());
    OperationWaiter waiter(client);
    OperationWaitOptions options;
    options.reconnect_grace = std::chrono::milliseconds(1);
    options.on_update = [&](const Json&) { service.reset(); };
    try {
        waiter.wait(operation_id, options);
        FAIL("the wait ended");
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::unavailable);
    }
}

TEST_CASE("a refused cancel is told") {
    FakeService service;
    service.on(operation_path, [](const Request& request) {
        if (request.method == Method::delete_)
            throw Error(ErrorCode::invalid_argument, "it can't be cancelled");
        return operation_record(103);
    });
    service.start();
    ApiClient client(service.target());
    OperationWaitOptions options;
    options.cancel_requested = [] { return true; };
    CHECK_THROWS_WITH(OperationWaiter(client).wait(operation_id, options), "it can't be cancelled");
}
