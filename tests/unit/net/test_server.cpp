#include "tests/unit/net/test_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <stdexcept>

#include "libsvc/base/error.h"

namespace svc::test {

namespace {
constexpr std::chrono::seconds test_server_patience{60};
}

void TestService::add(const std::string& path, Handler handler, Dispatch dispatch, std::uint64_t max_body) {
    RequestPlan plan;
    plan.dispatch = dispatch;
    plan.max_body = max_body;
    plan.handler = std::move(handler);
    add(path, std::move(plan));
}

RequestPlan TestService::plan(Request& request) {
    const auto found = plans_.find(request.path);
    if (found != plans_.end()) return found->second;
    RequestPlan plan;
    plan.dispatch = Dispatch::on_io_thread;
    plan.handler = [](Request&) {
        Response response = text_response("no such path");
        response.status = 404;
        return response;
    };
    return plan;
}

Response TestService::fault(const Request*, const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    Response response = text_response(error.what());
    response.status = known != nullptr && known->code() == ErrorCode::exhausted ? 503 : 400;
    return change_fault ? change_fault(std::move(response)) : std::move(response);
}

void TestService::done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                       std::chrono::nanoseconds) {
    std::lock_guard lock(mutex_);
    finished_.push_back(Finished{request.path, status, received, sent});
    changed_.notify_all();
}

Finished TestService::wait_for_done() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, test_server_patience, [this] { return !finished_.empty(); }))
        throw std::runtime_error("no request was done in time");
    Finished first = finished_.front();
    finished_.erase(finished_.begin());
    return first;
}

TestServer::TestServer() : directory_(std::filesystem::temp_directory_path(), "net-test-") {}

KeyPair TestServer::make_identity(const std::string& name) const {
    const KeyPair files{directory() / (name + ".crt"), directory() / (name + ".key")};
    ensure_key_pair(files, name, {"localhost"}, {"127.0.0.1"}, SystemClock());
    return files;
}

void TestServer::start(std::size_t pool_threads, std::size_t pool_queue) {
    pool_ = std::make_unique<ThreadPool>("test", pool_threads, pool_queue);
    server_ = std::make_unique<HttpServer>(service, *pool_, limits);
    ListenerLimits listener;
    listener.standing = [standing = standing](const Peer&) { return standing; };
    server_->listen_unix("local", directory() / "socket", 0600, -1, listener);
    ListenerLimits tcp;
    tcp.standing = [standing = tcp_standing](const Peer&) { return standing; };
    if (with_tcp) tcp_address_ = server_->listen_tcp("plain", "127.0.0.1:0", nullptr, tcp);
    if (with_tls) {
        std::vector<NamedIdentity> others;
        for (const std::string& name : named) others.push_back({name, make_identity(name)});
        tls_ = std::make_shared<TlsContext>(make_identity("server"), least, others);
        tls_address_ = server_->listen_tcp("secure", "127.0.0.1:0", tls_);
    }
    server_->start();
}

Target TestServer::unix_target() const {
    return Target::parse("unix://" + (directory() / "socket").string());
}

Target TestServer::tls_target() const {
    Target target = Target::parse("https://" + tls_address_);
    target.server_fingerprint = tls_->fingerprint();
    return target;
}

Target TestServer::tls_target(const std::string& name) const {
    Target target = tls_target();
    target.server_name = name;
    target.server_fingerprint = tls_->fingerprint(name);
    return target;
}

RawClient::RawClient(const Target& target) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    target.unix_path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw std::runtime_error("cannot connect");
}

bool RawClient::send(std::string_view data) {
    while (!data.empty()) {
        const ssize_t sent = ::send(fd_.get(), data.data(), data.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool RawClient::has_input(std::chrono::milliseconds within) {
    pollfd input{fd_.get(), POLLIN, 0};
    return poll(&input, 1, static_cast<int>(within.count())) > 0;
}

std::string RawClient::read_some() {
    if (!has_input(test_server_patience)) throw std::runtime_error("server is silent");
    char buffer[65536];
    const ssize_t count = recv(fd_.get(), buffer, sizeof(buffer), 0);
    return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : std::string();
}

std::string RawClient::read_to_end() {
    for (;;) {
        const auto more = read_some();
        if (more.empty()) return std::exchange(in_, std::string());
        in_ += more;
    }
}

RawReply RawClient::reply(bool to_head) {
    RawReply reply;
    const auto fill_until = [this](auto&& enough) {
        while (!enough()) {
            const auto more = read_some();
            if (more.empty()) return false;
            in_ += more;
        }
        return true;
    };
    if (!fill_until([this] { return in_.find("\r\n\r\n") != std::string::npos; })) return reply;
    reply.head = in_.substr(0, in_.find("\r\n\r\n") + 4);
    in_.erase(0, reply.head.size());
    reply.status = std::stoi(reply.head.substr(9, 3));
    if (to_head || reply.status < 200) return reply;
    std::size_t length = 0;
    const auto field = reply.head.find("Content-Length: ");
    if (field != std::string::npos) {
        length = std::stoul(reply.head.substr(field + 16));
        fill_until([&] { return in_.size() >= length; });
    } else {
        fill_until([this] { return in_.find("\r\n0\r\n\r\n") != std::string::npos; });
        length = in_.find("\r\n0\r\n\r\n") + 7;
    }
    reply.body = in_.substr(0, length);
    in_.erase(0, length);
    return reply;
}

RawReply ask(const Target& target, const std::string& request) {
    RawClient client(target);
    client.send(request);
    return client.reply();
}

Response text_response(std::string text) {
    Response response;
    response.headers.set("Content-Type", "text/plain");
    response.body = std::move(text);
    return response;
}

void Signal::set() {
    std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
}

bool Signal::wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, test_server_patience, [this] { return set_.load(); });
}

}  // namespace svc::test
