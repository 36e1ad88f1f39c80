#pragma once
// An agent asked over its socket as any program asks; what is put in is looked at from the guest's side.
#include <catch2/catch.hpp>

#include "instance-agent/agent/agent_sockets.h"
#include "libsvc/model/instances/instance.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

inline const std::string plain_success = R"({"type":"sync","status":"Success","status_code":200})";
inline const std::string place_of_munich =
    R"({"latitude":48.1173,"longitude":11.5167,"altitude":545,"time":1700000000000,"speed":1.5,"bearing":90})";

class Agent {
  public:
    explicit Agent(agent::Automotive automotive = agent::Automotive::yes)
        : directory_(std::filesystem::temp_directory_path(), "control-table-") {
        options_.session = data() / "session.json";
        options_.api_socket = directory_.path() / "run/api.unix";
        options_.guest_socket = directory_.path() / "run/guest.unix";
        options_.automotive = automotive;
        AgentSession session;
        session.instance_id = "i";
        session.token = "t";
        session.config.platform = "webrtc";
        make_directories(data());
        write_file_atomically(options_.session, session.to_json().dump());
        restart();
    }
    ~Agent() { log::set_level(log::Level::info); }

    void restart() {
        interfaces_.reset();
        interfaces_.emplace(options_, false);
    }
    std::filesystem::path data() const { return directory_.path() / "data"; }
    std::filesystem::path guest_socket() const { return options_.guest_socket; }

    test::RawReply ask(const std::string& method, const std::string& path,
                       const std::string& body = "") const {
        return test::ask(Target::parse("unix://" + options_.api_socket.string()),
                         method + " " + path + " HTTP/1.1\r\nHost: s\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    // The whole body of an answer with 200.
    std::string done(const std::string& method, const std::string& path, const std::string& body = "") const {
        const auto reply = ask(method, path, body);
        INFO(reply.body);
        CHECK(reply.status == 200);
        return reply.body;
    }
    Json metadata(const std::string& path, const std::string& method = "GET",
                  const std::string& body = "") const {
        const Json answer = Json::parse(done(method, path, body));
        CHECK(answer.at("type") == Json("sync"));
        CHECK(answer.at("status") == Json("Success"));
        CHECK(answer.at("status_code") == Json(200));
        return answer.at("metadata");
    }
    // "400 text" of an error, whose body has its three fields and no other.
    std::string error(const std::string& method, const std::string& path,
                      const std::string& body = "") const {
        const auto reply = ask(method, path, body);
        INFO(reply.body);
        const Json answer = Json::parse(reply.body);
        CHECK(answer.at("type") == Json("error"));
        CHECK(answer.at("error_code") == Json(reply.status));
        CHECK(answer.as_object().size() == 3);
        return std::to_string(reply.status) + " " + answer.at("error").as_string();
    }

  private:
    TemporaryDirectory directory_;
    agent::Options options_;
    std::optional<agent::AgentSockets> interfaces_;
};

inline std::unique_ptr<GuestClient> attach(const Agent& agent) {
    auto guest = std::make_unique<GuestClient>(agent.guest_socket());
    REQUIRE(guest->hello().at("ok").as_bool());
    return guest;
}

inline std::string enable(bool on) {
    return on ? R"({"enable":true})" : R"({"enable":false})";
}

}  // namespace svc::test
