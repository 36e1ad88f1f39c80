#include "libsvc/services/exec/exec_service.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/exec/exec_session.h"
#include "libsvc/services/instances/instance_work.h"

namespace svc {

namespace {

// Where Android has its programs, besides the folders of others.
constexpr const char* android_path = "/system/bin:/system/xbin:/vendor/bin:/usr/bin:/sbin:/bin";

ExecSpec exec_spec(const ExecRequest& request, bool android) {
    ExecSpec spec;
    spec.command = request.command;
    spec.environment = {request.environment.begin(), request.environment.end()};
    if (android) spec.environment.emplace("PATH", android_path);
    spec.terminal = request.interactive;
    spec.width = request.width;
    spec.height = request.height;
    return spec;
}

Json metadata_of(const ExecRequest& request, const std::map<std::string, std::string>& secrets) {
    Json fds = Json::object();
    for (const auto& [name, secret] : secrets) fds.set(name, secret);
    // Not the environment: everybody may read this, and it often holds secrets.
    return Json::object({{"fds", std::move(fds)},
                         {"command", JsonArray(request.command.begin(), request.command.end())},
                         {"interactive", request.interactive}});
}

std::map<std::string, std::string> make_secrets(bool interactive, IdSource& ids) {
    std::map<std::string, std::string> secrets{{"0", ids.secret()}, {"control", ids.secret()}};
    if (interactive) return secrets;
    secrets["1"] = ids.secret();
    secrets["2"] = ids.secret();
    return secrets;
}

}  // namespace

ExecService::ExecService(Instances& instances, InstanceUses& uses, Runtime& runtime, Engine& engine,
                         Clock& clock, IdSource& ids)
    : instances_(instances),
      uses_(uses),
      runtime_(runtime),
      engine_(engine),
      ids_(ids),
      timer_(clock, "exec-timer") {
    OperationHandler handler;
    handler.run = [this](OperationContext& context) { return run(context); };
    handler.undo = [this](const Operation& operation, const Error&) { return undo(operation); };
    engine_.handle("instance.exec", std::move(handler));
}

ExecService::~ExecService() {
    auto sessions = sessions_.with([](auto& all) { return std::exchange(all, {}); });
    for (const auto& [id, session] : sessions) session->cancel();
    sessions.clear();  // waits for their threads
}

Started ExecService::start(std::string_view id, const ExecRequest& request, PathWord word,
                           std::string requestor, std::function<bool()> distrusted) {
    const auto instance = instances_.get(id);
    if (instance->status != InstanceStatus::started && instance->status != InstanceStatus::running)
        throw Error(ErrorCode::invalid_argument,
                    "exec in a container that is " + std::string(to_text(instance->status)) + " not allowed");
    check_not_pooled(*instance, "exec in");
    if (is_paused(*instance))
        throw Error(ErrorCode::invalid_argument, "exec in a container that is paused not allowed");
    const std::string noun(to_text(word));
    const auto secrets = make_secrets(request.interactive, ids_);
    OperationSpec spec;
    spec.kind = "instance.exec";
    spec.description = "Executing command";
    spec.cls = OperationClass::websocket;
    spec.resources[noun] = {"/1.0/" + noun + "/" + instance->id.str()};
    spec.cancellable = true;
    spec.metadata = metadata_of(request, secrets);
    spec.requestor = std::move(requestor);
    spec.id = ids_.uuid();
    const std::string operation = spec.id;
    add_session(operation, instance->id.str(), exec_spec(request, instance->android), secrets, distrusted);
    try {
        // Once the command is among those that cancel_distrusted() sees.
        if (distrusted && distrusted()) throw Error(ErrorCode::forbidden, "Not Authorized");
        return engine_.start(std::move(spec), {});
    } catch (...) {
        sessions_.with([&](auto& all) { return all.extract(operation); });
        throw;
    }
}

void ExecService::cancel_distrusted() {
    const auto sessions = sessions_.with([](const auto& all) { return all; });
    for (const auto& [operation, session] : sessions) {
        if (!session->distrusted()) continue;
        try {
            engine_.cancel(operation);
        } catch (const Error& e) {
            log::debug("command has ended by itself", {{"operation", operation}, {"error", e.what()}});
        }
    }
}

std::shared_ptr<ExecStream> ExecService::connect(std::string_view operation_id, std::string_view secret) {
    if (secret.empty()) throw Error(ErrorCode::unauthenticated, "missing secret");
    const auto operation = engine_.get(operation_id);
    if (operation->cls != OperationClass::websocket)
        throw Error(ErrorCode::invalid_argument, "operation has no websocket");
    const auto session = find(operation->id.str());
    if (operation->status != OperationStatus::running || !session)
        throw Error(ErrorCode::invalid_argument, "operation is not running");
    return session->connect(secret);
}

void ExecService::add_session(const std::string& operation, const std::string& container, ExecSpec command,
                              const std::map<std::string, std::string>& secrets,
                              std::function<bool()> distrusted) {
    auto keep_code = [this, operation](int code) { codes_.with([&](auto& all) { all[operation] = code; }); };
    // On the timer's thread: a session cannot be destroyed by its own.
    auto finished = [this, operation] {
        timer_.after(Duration::zero(), [this, operation] {
            sessions_.with([&](auto& all) { return all.extract(operation); });
        });
    };
    auto session = std::make_shared<ExecSession>(
        ExecSessionParts{runtime_, timer_, container, std::move(command), secrets, std::move(keep_code),
                         std::move(finished), std::move(distrusted), uses_.hold(container)});
    sessions_.with([&](auto& all) { all.emplace(operation, std::move(session)); });
}

OperationResult ExecService::run(OperationContext& context) {
    const auto session = find(context.operation().id.str());
    if (!session) throw Error(ErrorCode::internal, "command was lost");
    auto completion = context.detach([weak = std::weak_ptr(session)] {
        if (const auto waiting = weak.lock()) waiting->cancel();
    });
    session->run(std::move(completion));
    return {};
}

// The operation fails, but the client learns the code all the same.
OperationResult ExecService::undo(const Operation& operation) {
    const auto code = codes_.with([&](auto& all) { return all.extract(operation.id.str()); });
    if (const auto session = find(operation.id.str())) session->cancel();  // it may never have begun
    sessions_.with([&](auto& all) { return all.extract(operation.id.str()); });
    OperationResult result;
    if (!code.empty()) result.metadata = Json::object({{"return", code.mapped()}});
    return result;
}

ExecService::SessionPtr ExecService::find(const std::string& operation) {
    return sessions_.with([&](auto& all) {
        const auto found = all.find(operation);
        return found == all.end() ? SessionPtr() : found->second;
    });
}

}  // namespace svc
