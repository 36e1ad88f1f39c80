#include "libsvc/services/trust/session_service.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <thread>

#include "libsvc/services/trust/session_keys.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/trust_world.h"

namespace svc::test {
namespace {

using namespace std::chrono_literals;

const BrowserPlace here{"192.0.2.1", "Firefox"};

struct SessionFixture : TrustWorld {
    BrowserSessionService& sessions = life->management.sessions();
    BrowserSessions& records = life->management.records().sessions;

    OpenedSession open(Role role = Role::admin, const std::string& certificate = "") {
        return sessions.open(LoginMethod::link, {"alice", role, certificate}, here);
    }
    void use(const OpenedSession& opened) {
        sessions.note_use(*sessions.find(opened.secret));
        eventually("the use is stored",
                   [&] { return records.get(opened.session->id)->used_at == clock.now(); });
    }
};

}  // namespace

TEST_CASE_METHOD(SessionFixture, "a session is found by its secret, of which the store has the hash alone") {
    const OpenedSession opened = open(Role::operator_);
    const auto found = sessions.find(opened.secret);
    REQUIRE(found);
    CHECK(found->id == opened.session->id);
    CHECK(found->role == Role::operator_);
    CHECK(found->address == "192.0.2.1");
    CHECK_FALSE(sessions.find("nonsense"));
    CHECK_FALSE(sessions.find(opened.session->secret_hash));
    CHECK_FALSE(sessions.find(opened.session->id));
    CHECK_FALSE(sessions.find_by_id(opened.session->secret_hash));
    CHECK(is_key_of(*found, opened.key));
    CHECK_FALSE(is_key_of(*found, opened.secret));
    CHECK_FALSE(is_key_of(*found, found->key_hash));
    for (const std::string& secret : {opened.secret, opened.key})
        CHECK(browser_session_to_store(*found).dump().find(secret) == std::string::npos);
    for (const std::string& hash : {found->secret_hash, found->key_hash})
        CHECK(to_json(*found).dump().find(hash) == std::string::npos);
}

TEST_CASE_METHOD(SessionFixture, "a session of a version without keys has ended") {
    const OpenedSession opened = open();
    records.update(opened.session->id, [](BrowserSession& session) { session.key_hash.clear(); });
    CHECK_FALSE(sessions.find(opened.secret));
    CHECK_FALSE(is_key_of(*records.get(opened.session->id), ""));
    sessions.remove_ended();
    CHECK(records.size() == 0);
}

TEST_CASE_METHOD(SessionFixture, "a ticket is for one path of one session, for a minute") {
    const OpenedSession mine = open(), other = open();
    const std::string path = "/1.0/instances/a/snapshots/b/export";
    const IssuedTicket ticket = sessions.ticket(*mine.session, path);
    CHECK(ticket.expires_at == clock.now() + 1min);
    CHECK(sessions.takes_ticket(*mine.session, path, ticket.text));
    CHECK_FALSE(sessions.takes_ticket(*other.session, path, ticket.text));
    CHECK_FALSE(sessions.takes_ticket(*mine.session, path + "2", ticket.text));
    CHECK_FALSE(sessions.takes_ticket(*mine.session, path, "9" + ticket.text));
    for (const char* text : {"", ".", "x", "99999999999999999999.x", "-1."})
        CHECK_FALSE(sessions.takes_ticket(*mine.session, path, text));
    clock.advance(1min);
    CHECK_FALSE(sessions.takes_ticket(*mine.session, path, ticket.text));
}

TEST_CASE_METHOD(SessionFixture, "the end of a session ends what it has made, however long ago") {
    const OpenedSession first = open();
    const auto child_of = [&](const OpenedSession& parent) {
        LinkGrant maker{"alice", Role::viewer, "", {}, parent.session->id};
        return sessions.follow(sessions.invite({}, std::move(maker)).secret, here);
    };
    const OpenedSession child = child_of(first), grandchild = child_of(child);
    clock.advance(25min);
    use(first);
    use(grandchild);
    clock.advance(10min);
    sessions.remove_ended();  // the child was not used
    CHECK_FALSE(sessions.find(child.secret));
    CHECK(sessions.find(grandchild.secret));
    sessions.end(first.session->id);
    CHECK_FALSE(sessions.find(grandchild.secret));
}

TEST_CASE_METHOD(SessionFixture, "a link of a session that has ended opens nothing") {
    const OpenedSession opened = open();
    sessions.end(opened.session->id);
    const IssuedLink late = sessions.invite({}, {"alice", Role::viewer, "", {}, opened.session->id});
    CHECK(message_of([&] { sessions.follow(late.secret, here); }) == "Not Authorized");
    CHECK(records.size() == 0);
}

TEST_CASE_METHOD(SessionFixture, "a session ends when it is not used") {
    const OpenedSession opened = open();
    clock.advance(30min);
    CHECK(sessions.find(opened.secret));
    use(opened);
    clock.advance(30min);
    CHECK(sessions.find(opened.secret));
    clock.advance(1min);
    CHECK_FALSE(sessions.find(opened.secret));
    CHECK(sessions.list().empty());
    CHECK(code_of([&] { sessions.end(opened.session->id); }) == ErrorCode::not_found);
    sessions.remove_ended();
    CHECK(records.size() == 0);
}

TEST_CASE_METHOD(SessionFixture, "a session ends after its lifetime, however much it is used") {
    finish(config.patch({"sessions.lifetime", "1h"}, "uid=0"));
    const OpenedSession opened = open();
    for (int i = 0; i < 4; ++i) {
        CHECK(sessions.find(opened.secret));
        use(opened);
        clock.advance(15min);
    }
    CHECK_FALSE(sessions.find(opened.secret));
}

TEST_CASE_METHOD(SessionFixture, "a use is due to be stored once a minute") {
    const OpenedSession opened = open();
    CHECK_FALSE(sessions.use_is_due(*opened.session));
    clock.advance(1min);
    CHECK(sessions.use_is_due(*opened.session));
    use(opened);
    CHECK_FALSE(sessions.use_is_due(*sessions.find(opened.secret)));
}

TEST_CASE_METHOD(SessionFixture, "a use that cannot be stored is stored with the next request") {
    const OpenedSession opened = open();
    clock.advance(1min);
    failing_store.fail_next(ErrorCode::unavailable);
    sessions.note_use(*opened.session);
    eventually("a later use is stored", [&] {
        sessions.note_use(*opened.session);
        return records.get(opened.session->id)->used_at == clock.now();
    });
}

TEST_CASE_METHOD(SessionFixture, "listeners hear that a session has ended") {
    std::atomic<int> told = 0;
    sessions.on_end([&] { ++told; });
    const OpenedSession opened = open();
    CHECK(told == 0);
    sessions.end(opened.session->id);
    eventually("the listener is called", [&] { return told == 1; });
    CHECK_FALSE(sessions.find(opened.secret));
}

TEST_CASE_METHOD(SessionFixture, "a session does no more than its certificate, and ends with it") {
    const auto someone = make_certificate({"someone"});
    trust(someone);
    const OpenedSession opened = open(Role::operator_, someone.fingerprint);
    CHECK(sessions.find(opened.secret)->role == Role::operator_);
    service.set_role(someone.fingerprint, Role::viewer);
    CHECK(sessions.find(opened.secret)->role == Role::viewer);
    service.set_role(someone.fingerprint, Role::admin);
    CHECK(sessions.find(opened.secret)->role == Role::operator_);
    remove(someone);
    CHECK_FALSE(sessions.find(opened.secret));
    sessions.remove_ended();
    CHECK(records.size() == 0);
}

TEST_CASE_METHOD(SessionFixture, "a link is good for one login, within a minute") {
    const IssuedLink link = sessions.invite({}, {"alice", Role::operator_, ""});
    CHECK(link.expires_at == clock.now() + 1min);
    CHECK(sessions.follow(link.secret, here).session->role == Role::operator_);
    CHECK(message_of([&] { sessions.follow(link.secret, here); }) == "Not Authorized");
    const IssuedLink late = sessions.invite({}, {"alice", Role::operator_, ""});
    clock.advance(1min);
    CHECK(message_of([&] { sessions.follow(late.secret, here); }) == "Not Authorized");
}

TEST_CASE_METHOD(SessionFixture, "a user has five open links, and keeps nobody else out") {
    const LinkGrant alice{"alice", Role::viewer, ""}, namesake{"alice", Role::viewer, "ab"};
    std::string secret;
    for (int i = 0; i < 5; ++i) secret = sessions.invite({}, alice).secret;
    CHECK(code_of([&] { sessions.invite({}, alice); }) == ErrorCode::exhausted);
    CHECK_NOTHROW(sessions.invite({}, namesake));
    sessions.follow(secret, here);
    CHECK_NOTHROW(sessions.invite({}, alice));
}

TEST_CASE_METHOD(SessionFixture, "of fifty sessions of a user the one not used for longest makes room") {
    const OpenedSession namesake = sessions.open(LoginMethod::oidc, {"alice", Role::viewer, ""}, here);
    const OpenedSession first = open(), second = open();
    for (int i = 2; i < 50; ++i) open();
    clock.advance(2min);
    use(first);
    for (const auto& each : records.list())
        if (each->id != second.session->id && each->id != namesake.session->id)
            records.update(each->id, [&](BrowserSession& session) { session.used_at = clock.now(); });
    const OpenedSession another = open();
    CHECK(sessions.find(another.secret));
    CHECK(sessions.find(first.secret));
    CHECK_FALSE(sessions.find(second.secret));
    CHECK(sessions.find(namesake.secret));
    CHECK(records.size() == 51);
}

TEST_CASE_METHOD(SessionFixture, "of those who use a link at the same time one is let in") {
    const IssuedLink link = sessions.invite({}, {"alice", Role::admin, ""});
    constexpr int clients = 8;
    std::latch begin(clients);
    std::atomic<int> in = 0;
    std::vector<std::jthread> running;
    for (int i = 0; i < clients; ++i)
        running.emplace_back([&, i] {
            begin.arrive_and_wait();
            try {
                sessions.follow(link.secret, {"192.0.2." + std::to_string(i), ""});
                ++in;
            } catch (const Error&) {
            }
        });
    running.clear();
    CHECK(in == 1);
    CHECK(records.size() == 1);
}

TEST_CASE_METHOD(SessionFixture, "the session of a session's link ends with it at the latest") {
    const Time until = clock.now() + 10min;
    const IssuedLink link = sessions.invite({}, {"alice", Role::viewer, "", until});
    CHECK(sessions.follow(link.secret, here).session->expires_at == until);
}

TEST_CASE_METHOD(SessionFixture, "links and sessions are limited in number") {
    for (int i = 0; i < 100; ++i) sessions.invite({}, {std::to_string(i), Role::viewer, ""});
    CHECK(code_of([&] { sessions.invite({}, {"another", Role::viewer, ""}); }) == ErrorCode::exhausted);
    clock.advance(1min);
    CHECK_NOTHROW(sessions.invite({}, {"alice", Role::viewer, ""}));
    for (int i = 0; i < 1000; ++i)
        sessions.open(LoginMethod::link, {std::to_string(i), Role::admin, ""}, here);
    CHECK(message_of([&] {
              sessions.open(LoginMethod::link, {"another", Role::admin, ""}, here);
          }) == "too many sessions");
}

TEST_CASE_METHOD(SessionFixture, "what a browser says of itself is cut, and has no control characters") {
    const OpenedSession opened = sessions.open(LoginMethod::oidc, {"bob", Role::viewer, ""},
                                               {"::1", "a\x1b[31m\n" + std::string(300, 'x')});
    CHECK(opened.session->user_agent == "a[31m" + std::string(193, 'x'));
    CHECK(opened.session->method == LoginMethod::oidc);
}

}  // namespace svc::test
