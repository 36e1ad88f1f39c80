#include "tests/support/test_gateway.h"

#include <chrono>
#include <thread>

#include "libsvc/base/error.h"
#include "tests/support/gateway_options.h"

namespace svc::test {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;  // long: where nothing is wrong, nobody waits for its end
constexpr std::string_view metrics_path = "/internal/1.0/metrics";

gateway::Options test_options(const std::filesystem::path& directory) {
    gateway::Options options = loopback_gateway_options(directory);
    options.metrics_listen = "127.0.0.1:0";
    options.metrics_user = "prometheus";
    options.metrics_password = "secret";
    return options;
}

Headers authorization(const std::string& token) {
    Headers headers;
    if (!token.empty()) headers.set("Authorization", "macaroon root=" + token);
    return headers;
}

// "wss://host:port/path" into where and what.
std::pair<std::string, std::string> split_url(const std::string& url) {
    if (!url.starts_with("wss://")) throw Error(ErrorCode::internal, "no secure WebSocket address: " + url);
    const std::size_t slash = url.find('/', 6);
    return {"https" + url.substr(3, slash - 3), url.substr(slash)};
}

}  // namespace

TestGateway::TestGateway(const std::function<void(gateway::Options&)>& change)
    : directory_(std::filesystem::temp_directory_path(), "svc-gateway-"),
      options_(test_options(directory_.path())) {
    if (change) change(options_);
    for (const RegionConfig& region : options_.regions) regions_[region.name];
    start();
}

void TestGateway::start() {
    log::set_level(options_.log_level);
    gateway::Seams seams;
    seams.clock = &clock_;
    seams.management = [this](const RegionConfig& region) { return regions_[region.name].connect(); };
    gateway_ = std::make_unique<gateway::Gateway>(options_, seams);
    await_regions();
}

void TestGateway::await_regions() {
    ApiCaller api = local();
    eventually("every region answers",
               [&] { return api.get("/1.0/status").metadata().at("agents") == Json(regions_.size()); });
}

void TestGateway::advance(Duration duration) {
    clock_.advance(duration);
    await_regions();
}

void TestGateway::restart() {
    stop();
    start();
}

std::string TestGateway::address(std::string_view beginning, std::string_view end) const {
    for (const std::string& address : gateway_->addresses()) {
        const bool metrics = address.ends_with(metrics_path);
        if (address.starts_with(beginning) && address.ends_with(end) && metrics == !end.empty())
            return address.substr(0, address.size() - end.size());
    }
    throw Error(ErrorCode::not_found, "the gateway does not listen there");
}

Target TestGateway::target() const {
    Target target = Target::parse(address("https:", ""));
    target.server_fingerprint = gateway_->fingerprint();
    return target;
}

Target TestGateway::metrics_target() const {
    Target target = Target::parse(address("https:", metrics_path));
    target.server_fingerprint = gateway_->fingerprint();
    return target;
}

ApiCaller TestGateway::local() const {
    Target target;
    target.unix_path = options_.socket;
    return ApiCaller(target);
}

std::string TestGateway::token(const std::string& account, bool admin) {
    const ApiReply reply = local().post("/1.0/accounts", Json::object({{"name", account}, {"admin", admin}}));
    if (reply.status != 201) throw Error(ErrorCode::internal, "no account: " + reply.text);
    return reply.metadata().at("token").as_string();
}

ApiReply TestGateway::call(Method method, const std::string& path, const std::string& token,
                           const Json& body) {
    return caller().call(method, path, body.is_null() ? "" : body.dump(), authorization(token));
}

Json TestGateway::create(const std::string& token, const Json& body) {
    const ApiReply reply = call(Method::post, "/1.0/sessions", token, body);
    if (reply.status != 201) throw Error(ErrorCode::internal, "no session: " + reply.text);
    return reply.metadata();
}

Json TestGateway::await_status(const std::string& token, const std::string& id, const std::string& status) {
    Json session;
    eventually("session " + status, [&] {
        const ApiReply reply = call(Method::get, "/1.0/sessions/" + id, token);
        if (reply.status != 200) throw Error(ErrorCode::internal, "no session: " + reply.text);
        session = reply.metadata();
        return session.at("status") == Json(status);
    });
    return session;
}

WebSocketClient TestGateway::open(const std::string& url) const {
    const auto [where, path] = split_url(url);
    Target target = Target::parse(where);
    target.server_fingerprint = gateway_->fingerprint();
    return WebSocketClient(target, path);
}

WebSocketClient TestGateway::open_control(const Json& user_data, std::optional<Target> at) const {
    const Json& streaming = user_data.at("streaming");
    const auto [where, path] = split_url(streaming.at("control_url").as_string());
    Target target = at ? *at : Target::parse(where);
    const Json* const name = streaming.find("server_name");
    if (name != nullptr) target.server_name = name->as_string();
    target.server_fingerprint =
        streaming.at(name != nullptr ? "server_fingerprint" : "fingerprint").as_string();
    return WebSocketClient(target, path);
}

ScriptedInstance::ScriptedInstance(TestGateway& gateway, const std::string& session) {
    eventually("launch of session " + session, [&] {
        for (const RegionConfig& region : gateway.options().regions)
            for (const StreamLaunch& launch : gateway.region(region.name).launches())
                if (launch.session == session) user_data_ = launch.user_data;
        return !user_data_.is_null();
    });
    control_url_ = user_data_.at("streaming").at("control_url").as_string();
    socket_.emplace(gateway.open_control(user_data_));
    send(Json::object({{"type", "ctl:register"},
                       {"session_id", session},
                       {"version", "1"},
                       {"codecs", Json::array({"H264", "VP8"})}}));
}

Json ScriptedInstance::receive() {
    for (;;) {
        Json message = test::receive(*socket_);
        if (message.at("type") != Json("ctl:ping")) return message;
        try {
            send(Json::object({{"type", "ctl:pong"}}));
        } catch (const Error& e) {
            // The gateway has closed the socket since; what it sent before can still be received.
            if (e.code() != ErrorCode::unavailable) throw;
        }
    }
}

void eventually(const std::string& what, const std::function<bool()>& question) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!question()) {
        if (std::chrono::steady_clock::now() > until)
            throw Error(ErrorCode::internal, "did not come true: " + what);
        std::this_thread::yield();
    }
}

Json receive(WebSocketClient& socket) {
    const auto message = socket.receive(patience);
    if (!message) throw Error(ErrorCode::internal, "no message came");
    if (message->kind != WebSocketMessage::Kind::text)
        throw Error(ErrorCode::internal,
                    "socket was closed: " + std::to_string(message->close_code) + " " + message->data);
    return Json::parse(message->data);
}

WebSocketMessage receive_close(WebSocketClient& socket) {
    for (;;) {
        const auto message = socket.receive(patience);
        if (!message) throw Error(ErrorCode::internal, "socket was not closed");
        if (message->kind == WebSocketMessage::Kind::closed) return *message;
    }
}

}  // namespace svc::test
