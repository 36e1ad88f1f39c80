#include "tests/unit/client/fake_service.h"

#include <stdexcept>

#include "libsvc/base/error.h"
#include "libsvc/model/values/api.h"

namespace svc::test {
namespace {

constexpr std::chrono::seconds fake_service_patience{60};

Response socket_response(std::shared_ptr<FakeSocket> socket) {
    Response response;
    response.websocket = std::move(socket);
    return response;
}

}  // namespace

void FakeSocket::on_open(std::shared_ptr<WebSocket> socket) {
    const std::lock_guard lock(mutex_);
    socket_ = std::move(socket);
    changed_.notify_all();
}

void FakeSocket::on_message(bool binary, std::string message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back((binary ? "" : "text:") + message);
    changed_.notify_all();
}

void FakeSocket::on_close(std::uint16_t, std::string_view) {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back("close");
    changed_.notify_all();
}

std::shared_ptr<WebSocket> FakeSocket::socket() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, fake_service_patience, [&] { return socket_ != nullptr; }))
        throw std::runtime_error("no websocket was opened in time");
    return socket_;
}

std::string FakeSocket::next_message() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, fake_service_patience, [&] { return !messages_.empty(); }))
        throw std::runtime_error("no message came in time");
    std::string first = messages_.front();
    messages_.erase(messages_.begin());
    return first;
}

void FakeService::on(const std::string& path, Answer metadata) {
    server_.service.add(path, [this, metadata = std::move(metadata)](Request& request) {
        {
            const std::lock_guard lock(mutex_);
            last_request_ = request;
        }
        try {
            return json_response(200, sync_body(metadata(request)));
        } catch (const Error& e) {
            return json_response(http_status(e.code()), error_body(http_status(e.code()), e.what()));
        }
    });
}

Request FakeService::last_request() {
    const std::lock_guard lock(mutex_);
    return last_request_;
}

void FakeService::refuse(const std::string& path, int status, const std::string& text) {
    server_.service.add(path,
                        [status, text](Request&) { return json_response(status, error_body(status, text)); });
}

std::shared_ptr<FakeSocket> FakeService::websocket(const std::string& path) {
    auto socket = std::make_shared<FakeSocket>();
    server_.service.add(path, [socket](Request&) { return socket_response(socket); });
    return socket;
}

std::shared_ptr<FakeSocket> FakeService::websocket(const std::string& path, const std::string& secret) {
    if (by_secret_.empty()) serve_secrets(path);
    return by_secret_[secret] = std::make_shared<FakeSocket>();
}

void FakeService::serve_secrets(const std::string& path) {
    server_.service.add(path, [this](Request& request) {
        return socket_response(by_secret_.at(request.query_value("secret")));
    });
}

Json operation_record(int status_code, const std::string& err, Json metadata) {
    return Json::object({{"id", operation_id},
                         {"description", "Creating container"},
                         {"status_code", status_code},
                         {"metadata", std::move(metadata)},
                         {"err", err}});
}

}  // namespace svc::test
