#include "cli/actions/temporary_snapshot.h"

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/snapshots.h"

namespace svc::cli {
namespace {

constexpr std::chrono::seconds longest_deletion{30};  // that is waited for; it goes on without a client

// Chosen here, not by the service: so the snapshot can be deleted even when the answer to the request that
// made it was lost.
std::string new_snapshot_name() {
    const SystemClock clock;
    return "temporary-" + SystemIdSource(clock).object_id();
}

// Not by `Waiting`, which would cancel the deletion after Ctrl-C.
void delete_and_wait(ApiClient& client, const std::string& instance, const std::string& name) {
    const Json started = delete_snapshot(client, instance, name);
    const Json record = client.wait_operation(started.at("id").as_string(), longest_deletion);
    if (operation_is_final(record)) require_success(record);
}

bool delete_temporary(Context& context, const std::string& instance, const std::string& name) {
    try {
        delete_and_wait(context.client(), instance, name);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found) return true;  // a snapshot that failed has gone by itself
        context.console().print_error_line("Error: temporary snapshot " + quoted(name) +
                                           " may be left: " + e.what() +
                                           "; to delete it: svcctl snapshot delete " + instance + " " + name);
        return false;
    }
    return true;
}

}  // namespace

bool with_temporary_snapshot(Context& context, Waiting& waiting, const std::string& instance,
                             const std::function<void(const std::string& snapshot)>& use) {
    const std::string name = new_snapshot_name();
    try {
        const auto record = waiting.finish(with_context("instance " + quoted(instance), [&] {
            return create_snapshot(context.client(), instance, name);
        }));
        use(resource_id(*record, {"snapshots"}));
    } catch (const std::exception&) {
        delete_temporary(context, instance, name);
        throw;
    }
    return delete_temporary(context, instance, name);
}

}  // namespace svc::cli
