#include "instance-agent/streamer/guest/control_api.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/client/direct_call.h"

namespace svc::streamer {

namespace {

constexpr std::chrono::seconds patience{10};

Target at(const std::filesystem::path& socket) {
    Target target;
    target.unix_path = socket;
    return target;
}

}  // namespace

ControlApi::ControlApi(const std::filesystem::path& socket) : target_(at(socket)) {}

Json ControlApi::call(Method method, const std::string& path, const Json& body) const {
    ClientRequest request;
    request.method = method;
    request.path = path;
    request.timeout = patience;
    if (!body.is_null()) request.body = body.dump();
    const ClientReply reply = call_directly(target_, request);
    const Json answer = Json::parse(reply.body);
    if (reply.status / 100 == 2) {
        const Json* metadata = answer.find("metadata");
        return metadata != nullptr ? *metadata : Json();
    }
    const Json* text = answer.find("error");
    throw Error(reply.status == 400 ? ErrorCode::invalid_argument : ErrorCode::internal,
                text != nullptr && text->is_string() ? text->as_string() : "the control API refused");
}

ControlApiWorker::ControlApiWorker(const std::filesystem::path& socket, std::string name)
    : api_(socket), name_(std::move(name)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

ControlApiWorker::~ControlApiWorker() = default;

bool ControlApiWorker::submit(Task task) {
    std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting) return false;
    waiting_.push_back({"", std::move(task)});
    changed_.notify_one();
    return true;
}

bool ControlApiWorker::submit(const std::string& key, Task task) {
    std::lock_guard lock(mutex_);
    const auto same =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.key == key; });
    if (same != waiting_.end()) {
        same->task = std::move(task);
        return true;
    }
    if (waiting_.size() >= max_waiting) return false;
    waiting_.push_back({key, std::move(task)});
    changed_.notify_one();
    return true;
}

void ControlApiWorker::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
        if (stop.stop_requested()) return;
        const Task task = std::move(waiting_.front().task);
        waiting_.pop_front();
        lock.unlock();
        try {
            task(api_);
        } catch (const std::exception& e) {
            log::warning("control API did not take it", {{"worker", name_}, {"error", e.what()}});
        }
        lock.lock();
    }
}

}  // namespace svc::streamer
