#include "libsvc/services/instances/instance_work.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

std::string_view to_text(PathWord word) {
    return word == PathWord::containers ? "containers" : "instances";
}

Json InstanceWork::to_json() const {
    return Json::object({{"instance", instance},
                         {"no_wait", no_wait},
                         {"force", force},
                         {"if_gone", if_gone},
                         {"exit_code", exit_code},
                         {"message", message}});
}

InstanceWork InstanceWork::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {.instance = fields.require_string("instance"),
            .no_wait = fields.boolean("no_wait").value_or(false),
            .force = fields.boolean("force").value_or(false),
            .if_gone = fields.boolean("if_gone").value_or(false),
            .exit_code = static_cast<int>(fields.integer("exit_code").value_or(0)),
            .message = fields.string("message").value_or("")};
}

std::string instance_claim(const std::string& instance) {
    return "instances/" + instance;
}

OperationSpec instance_operation(std::string kind, std::string description, const InstanceWork& work,
                                 PathWord word, std::string requestor) {
    const std::string noun(to_text(word));
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources[noun] = {"/1.0/" + noun + "/" + work.instance};
    spec.claims = {instance_claim(work.instance)};
    spec.arguments = work.to_json();
    spec.requestor = std::move(requestor);
    return spec;
}

bool start_repair(Engine& engine, std::string kind, const InstanceWork& work, bool wait_for_claims) {
    auto spec =
        instance_operation(std::move(kind), "Updating container", work, PathWord::containers, "service");
    spec.wait_for_claims = wait_for_claims;
    spec.cancel_holders = false;
    try {
        engine.start(std::move(spec), {});
        return true;
    } catch (const Error& e) {
        log::info("container is looked at again later", {{"container", work.instance}, {"reason", e.what()}});
        return false;
    }
}

bool may_be_up(InstanceStatus status) {
    return status == InstanceStatus::started || status == InstanceStatus::running;
}

bool is_running(Runtime& runtime, const std::string& id) {
    const auto container = runtime.inspect(id);
    return container && container->state == ContainerState::running;
}

void check_not_pooled(const Instance& instance, const std::string& what) {
    if (instance.pooled)
        throw Error(ErrorCode::invalid_argument, what + " a container that is pooled not allowed");
}

void throw_being_deleted() {
    throw Error(ErrorCode::busy, "deletion already in progress");
}

}  // namespace svc
