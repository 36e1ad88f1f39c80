#include "tests/agent/guest/guest_client.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "libsvc/base/error.h"

namespace svc::test {

namespace {

constexpr int guest_client_patience_ms = 60'000;
constexpr const char* hello_request = R"({"id":1,"op":"hello","name":"test","version":1})";

agent::GuestServerOptions with_place(agent::GuestServerOptions options, const std::filesystem::path& socket,
                                     MetricsRegistry& metrics) {
    options.socket = socket;
    options.metrics = &metrics;
    if (options.hello_limit == agent::GuestServerOptions().hello_limit) options.hello_limit = long_hello;
    return options;
}

}  // namespace

GuestClient::GuestClient(const std::filesystem::path& socket)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
}

bool GuestClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool GuestClient::fill(std::string& out, std::size_t size, FileDescriptor& descriptor) {
    while (out.size() < size) {
        pollfd wait{fd_.get(), POLLIN, 0};
        if (poll(&wait, 1, guest_client_patience_ms) <= 0) throw std::runtime_error("server is silent");
        char data[4096];
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
        iovec piece{data, std::min(sizeof(data), size - out.size())};
        msghdr message{};
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        const ssize_t count = recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
        if (count <= 0) return false;
        if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
            descriptor = FileDescriptor(fd);
        }
        out.append(data, static_cast<std::size_t>(count));
    }
    return true;
}

GuestClient::Received GuestClient::receive() {
    Received received;
    std::string header;
    if (!fill(header, agent::message_header_bytes, received.descriptor)) return received;
    std::uint32_t length = 0;
    std::memcpy(&length, header.data(), sizeof(length));
    std::memcpy(&received.stream, header.data() + 6, sizeof(received.stream));
    if (!fill(received.payload, length, received.descriptor)) return received;
    received.kind = header[4];
    return received;
}

Json GuestClient::receive_json() {
    const Received received = receive();
    REQUIRE(received.kind == 1);
    return Json::parse(received.payload);
}

Json GuestClient::ask(const std::string& text) {
    REQUIRE(send_json(text));
    return receive_json();
}

Json GuestClient::hello() {
    return ask(hello_request);
}

bool GuestClient::greets() {
    return send_json(hello_request) && receive().kind == 1;
}

bool GuestClient::is_closed() {
    return receive().kind == 0;
}

agent::GuestFeature TestDevice::feature() {
    using agent::GuestAnswer;
    agent::GuestFeature feature;
    feature.name = "test";
    feature.ops["test.echo"] = [](const auto&, const JsonFields& request) {
        return GuestAnswer{Json::object({{"text", request.require_string("text")}})};
    };
    feature.ops["test.keep"] = [this](const agent::GuestSessionPtr& session, const JsonFields&) {
        std::lock_guard lock(mutex_);
        kept_ = session;
        return GuestAnswer{Json::object({{"may_control", session->may_control()}})};
    };
    feature.ops["test.fail"] = [](const auto&, const auto&) -> GuestAnswer {
        throw Error(ErrorCode::busy, "camera busy");
    };
    feature.ops["test.crash"] = [](const auto&, const auto&) -> GuestAnswer {
        throw std::out_of_range("internals");
    };
    feature.ops["test.burst"] = [](const agent::GuestSessionPtr& session, const auto&) {
        session->send_event(Json::object({{"event", "burst"}, {"number", 1}}));
        session->send_event(Json::object({{"event", "burst"}, {"number", 2}}));
        return GuestAnswer{};
    };
    feature.ops["test.file"] = [](const auto&, const auto&) {
        FileDescriptor file(memfd_create("test", MFD_CLOEXEC));
        write_all(file.get(), "shared");
        return GuestAnswer{Json::object(), std::move(file)};
    };
    feature.ops["test.later"] = [this](const agent::GuestSessionPtr& session, const JsonFields& request) {
        std::lock_guard lock(mutex_);
        kept_ = session;
        late_id_ = request.value().at("id");
        GuestAnswer answer;
        answer.later = true;
        return answer;
    };
    feature.closed = [this](const agent::GuestSessionPtr&) { ++ended_; };
    feature.binary = [this](const auto&, std::uint16_t stream, std::string_view payload) {
        std::lock_guard lock(mutex_);
        released_.push_back(std::to_string(stream) + ":" + std::string(payload));
    };
    return feature;
}

agent::GuestSessionPtr TestDevice::kept() {
    std::lock_guard lock(mutex_);
    return kept_;
}

std::vector<std::string> TestDevice::released() {
    std::lock_guard lock(mutex_);
    return released_;
}

void TestDevice::late() {
    kept()->send_answer(Json::object({{"id", late_id_}, {"ok", true}, {"late", true}}));
}

TestGuests::TestGuests(agent::GuestServerOptions options)
    : directory_(std::filesystem::temp_directory_path(), "guests-test-"),
      server(with_place(std::move(options), socket(), metrics), {device.feature()}) {}

}  // namespace svc::test
