#include "libsvc/services/trust/certificate_service.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <thread>

#include "libsvc/base/digest.h"
#include "tests/support/error_code.h"
#include "tests/support/trust_world.h"

namespace svc::test {
namespace {

using namespace std::chrono_literals;

const std::string here = "192.0.2.1";

struct CertificateFixture : TrustWorld {
    MadeCertificate someone = make_certificate({"someone"});

    void add(const MadeCertificate& certificate, const std::string& password,
             const std::string& address = here) {
        service.add({base64_encode(certificate.der), password, ""}, from(address));
    }
    // One try, and what it was answered with; "" when it was taken.
    std::string refusal(const std::string& password, const std::string& address = here) try {
        add(someone, password, address);
        return "";
    } catch (const Error& e) {
        return e.code() == ErrorCode::forbidden ? e.what() : "wrong code";
    }
    IssuedToken invite(Duration validity = 1h) {
        return service.join_tokens().issue("laptop", Role::admin, validity, std::string(64, 'f'),
                                           {"https://192.0.2.9:8444"});
    }
    bool refuses(const std::string& password, const std::string& address = here) {
        return code_of([&] { add(someone, password, address); }) == ErrorCode::forbidden;
    }
};

}  // namespace

TEST_CASE_METHOD(CertificateFixture, "a certificate is trusted from its addition to its removal") {
    CHECK_FALSE(service.trusts(someone.der));
    const auto added = service.add({someone.pem, "", ""}, local());
    CHECK(added->fingerprint == someone.fingerprint);
    CHECK(added->added_at == clock.now());
    CHECK(service.trusts(someone.der));
    CHECK_FALSE(service.trusts(make_certificate({"someone"}).der));
    CHECK_FALSE(service.trusts(""));
    CHECK_FALSE(service.trusts("nonsense"));
    CHECK(code_of([&] { trust(someone); }) == ErrorCode::conflict);
    int told = 0;
    service.on_loss([&] { told += service.trusts(someone.der) ? 100 : 1; });
    remove(someone);
    CHECK_FALSE(service.trusts(someone.der));
    CHECK(told == 1);
    CHECK(service.list().empty());
}

TEST_CASE_METHOD(CertificateFixture, "a certificate is trusted again while its removal ends") {
    failing_store.fail_next(ErrorCode::conflict);  // the removal is in the store, and its memory follows
    CHECK_NOTHROW(trust(someone));
    CHECK(message_of([&] { trust(someone); }) == "certificate already exists");
}

TEST_CASE_METHOD(CertificateFixture, "the certificate of the connection is taken when none is given") {
    CertificateAsker asker = local();
    CHECK(message_of([&] { service.add({}, asker); }) == "certificate is required");
    asker.presented_der = someone.der;
    CHECK(service.add({}, asker)->pem == someone.pem);
}

TEST_CASE_METHOD(CertificateFixture, "trust keeps to the dates of the certificate") {
    const auto dated = make_certificate(
        {"dated", from_rfc3339("2024-02-01T00:00:00Z"), from_rfc3339("2024-03-01T00:00:00Z")});
    trust(dated);
    CHECK_FALSE(service.trusts(dated.der));
    clock.advance(30 * 24h);
    CHECK(service.trusts(dated.der));
    std::atomic<int> told = 0;
    service.on_loss([&] { ++told; });
    service.expire_tokens();
    CHECK(told == 0);
    clock.advance(30 * 24h);
    CHECK_FALSE(service.trusts(dated.der));
    service.expire_tokens();
    service.expire_tokens();
    CHECK(told == 1);
    remove(dated);
    CHECK(message_of([&] { trust(dated); }) == "certificate is expired");
}

TEST_CASE_METHOD(CertificateFixture, "an authority vouches for those it has signed while it is there") {
    const auto authority =
        make_certificate({.name = "ca", .until = from_rfc3339("2024-06-01T00:00:00Z"), .authority = true});
    const auto child = make_certificate({.name = "child", .issuer = &authority});
    const auto short_lived = make_certificate(
        {.name = "short", .until = from_rfc3339("2024-02-01T00:00:00Z"), .issuer = &authority});
    const auto grandchild = make_certificate({.name = "grandchild", .issuer = &child});
    trust(authority);
    CHECK(service.trusts(child.der));
    CHECK(service.trusts(short_lived.der));
    CHECK_FALSE(service.trusts(grandchild.der));
    CHECK_FALSE(service.trusts(someone.der));
    CHECK(service.list().size() == 1);

    std::atomic<int> told = 0;
    service.on_loss([&] { ++told; });
    clock.advance(60 * 24h);
    service.expire_tokens();
    CHECK(told == 1);  // the short-lived child, which is in no store
    CHECK_FALSE(service.trusts(short_lived.der));
    CHECK(service.trusts(child.der));
    clock.advance(150 * 24h);
    CHECK_FALSE(service.trusts(child.der));  // the authority has expired
}

TEST_CASE_METHOD(CertificateFixture, "the end of an authority is the end of its children") {
    const auto authority = make_certificate({.name = "ca", .authority = true});
    const auto child = make_certificate({.name = "child", .issuer = &authority});
    trust(authority);
    CHECK(service.trusts(child.der));
    remove(authority);
    CHECK_FALSE(service.trusts(child.der));
    trust(authority);
    CHECK(service.trusts(child.der));
}

TEST_CASE_METHOD(CertificateFixture, "trusted certificates survive a restart") {
    const auto authority = make_certificate({.name = "ca", .authority = true});
    const auto child = make_certificate({.name = "child", .issuer = &authority});
    trust(authority);
    trust(someone);
    const Life after(*this);
    CHECK(after.certificate_service.trusts(someone.der));
    CHECK(after.certificate_service.trusts(child.der));
}

TEST_CASE_METHOD(CertificateFixture, "certificates that another manager adds and removes count at once") {
    const auto authority = make_certificate({.name = "ca", .authority = true});
    const auto child = make_certificate({.name = "child", .issuer = &authority});
    Life other(*this);
    std::atomic<int> told = 0;
    other.certificate_service.on_loss([&] { ++told; });
    trust(authority);
    trust(someone);
    CHECK(other.certificate_service.trusts(someone.der));
    eventually("the authority is known", [&] { return other.certificate_service.trusts(child.der); });
    CHECK(told == 0);
    remove(someone);
    CHECK_FALSE(other.certificate_service.trusts(someone.der));
    eventually("the listener is told", [&] { return told == 1; });
    remove(authority);
    CHECK_FALSE(other.certificate_service.trusts(child.der));
    eventually("the listener is told again", [&] { return told == 2; });
}

TEST_CASE_METHOD(CertificateFixture, "a certificate is found by its fingerprint or the beginning of it") {
    trust(someone);
    const std::string& whole = someone.fingerprint;
    CHECK(service.get(whole)->fingerprint == whole);
    CHECK(service.get(whole.substr(0, 12))->fingerprint == whole);
    CHECK(code_of([&] { service.get(whole.substr(0, 11)); }) == ErrorCode::not_found);
    CHECK(code_of([&] { service.get(""); }) == ErrorCode::not_found);
    CHECK(code_of([&] { service.remove(std::string(64, '0'), ""); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(CertificateFixture, "what is no certificate is told before any password") {
    CHECK(code_of([&] { service.add({"nonsense", "", ""}, from(here)); }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(CertificateFixture, "the trust password lets strangers in only while it is set") {
    CHECK(refusal("secret") == "No password is set");
    set_password("secret");
    CHECK(refusal("") == "Bad password provided");
    CHECK(refusal("wrong") == "Bad password provided");
    CHECK_FALSE(service.trusts(someone.der));
    add(someone, "secret");
    CHECK(service.trusts(someone.der));
    set_password("");
    remove(someone);
    CHECK(refusal("secret") == "No password is set");
}

TEST_CASE_METHOD(CertificateFixture, "five wrong passwords block an address for ten seconds") {
    set_password("secret");
    for (int i = 0; i < 5; ++i) CHECK(refuses("wrong"));
    CHECK(refuses("secret"));
    CHECK(refusal("secret") == "too many wrong passwords: try again in 10 seconds");
    add(make_certificate({"other"}), "secret", "192.0.2.2");
    clock.advance(9s);
    CHECK(refuses("secret"));
    clock.advance(1s);
    add(someone, "secret");
    CHECK(service.trusts(someone.der));
}

TEST_CASE_METHOD(CertificateFixture, "all of an ipv6 network is one address and a right password forgives") {
    set_password("secret");
    for (int i = 0; i < 5; ++i) CHECK(refuses("wrong", "2001:db8::" + std::to_string(i)));
    CHECK(refuses("secret", "2001:db8::99"));
    add(someone, "secret", "2001:db8:0:1::1");
    for (int i = 0; i < 4; ++i) CHECK(refuses("wrong", here));
    add(make_certificate({"other"}), "secret");
    for (int i = 0; i < 4; ++i) CHECK(refuses("wrong", here));
    add(make_certificate({"another"}), "secret");
}

TEST_CASE_METHOD(CertificateFixture, "passwords from all addresses are limited and join tokens go on") {
    set_password("secret");
    for (int i = 0; i < 125; ++i) CHECK(refuses("wrong", "192.0.2." + std::to_string(i % 25)));
    add(make_certificate({"first"}), "secret", "198.51.100.1");  // whoever comes for the first time
    CHECK(refusal("wrong", "198.51.100.1") == "Bad password provided");
    CHECK(refusal("secret", "198.51.100.1") ==
          "too many wrong passwords from all addresses: try again later, or use the local socket or a join "
          "token");
    const IssuedToken issued = invite();
    service.add({base64_encode(make_certificate({"invited"}).der), "", issued.text}, from("198.51.100.2"));
    clock.advance(6s);
    add(someone, "secret", "198.51.100.1");
    CHECK(service.trusts(someone.der));
}

TEST_CASE_METHOD(CertificateFixture, "no password is taken from an instance but a join token is") {
    set_password("secret");
    CertificateAsker guest = from(here);
    guest.instance = true;
    const CertificateRequest with_password{base64_encode(someone.der), "secret", ""};
    CHECK(message_of([&] { service.add(with_password, guest); }) == "no password is taken from an instance");
    CHECK_FALSE(service.trusts(someone.der));
    service.add({base64_encode(someone.der), "", invite().text}, guest);
    CHECK(service.trusts(someone.der));
}

TEST_CASE_METHOD(CertificateFixture, "a join token is good once") {
    const IssuedToken issued = invite();
    const Json text = Json::parse(base64_decode(issued.text));
    CHECK(text.at("fingerprint") == Json(std::string(64, 'f')));
    CHECK(text.at("addresses").as_array().size() == 1);
    CHECK(tokens.get(issued.token.id)->secret_hash == sha256_hex(text.at("secret").as_string()));
    CHECK(join_token_to_store(*tokens.get(issued.token.id)).dump().find(text.at("secret").as_string()) ==
          std::string::npos);

    service.add({someone.pem, "", issued.text}, from(here));
    CHECK(service.trusts(someone.der));
    CHECK(service.join_tokens().list().empty());
    const auto other = make_certificate({"other"});
    CHECK(message_of([&] { add(other, issued.text); }) == "Not Authorized");
    CHECK_FALSE(service.trusts(other.der));
}

TEST_CASE_METHOD(CertificateFixture, "a token may stand where the password does") {
    add(someone, invite().text);
    CHECK(service.trusts(someone.der));
}

TEST_CASE_METHOD(CertificateFixture, "a token that was not used up stays") {
    trust(someone);
    const IssuedToken issued = invite();
    CHECK(code_of([&] { add(someone, issued.text); }) == ErrorCode::conflict);
    CHECK(service.join_tokens().list().size() == 1);
    add(make_certificate({"other"}), issued.text);
    CHECK(service.join_tokens().list().empty());
}

TEST_CASE_METHOD(CertificateFixture, "expired revoked and forged tokens open nothing") {
    const IssuedToken expired = invite(1min);
    const IssuedToken revoked = invite(2h);
    const IssuedToken good = invite(2h);
    service.join_tokens().revoke(revoked.token.id);
    CHECK(code_of([&] { service.join_tokens().revoke(revoked.token.id); }) == ErrorCode::not_found);
    clock.advance(1min);
    CHECK(service.join_tokens().list().size() == 1);
    const std::string forged =
        base64_encode(R"({"id":")" + good.token.id + R"(","secret":")" + std::string(64, '0') + R"("})");
    CHECK(refuses(expired.text, "192.0.2.2"));
    CHECK(refuses(revoked.text, "192.0.2.3"));
    for (int i = 0; i < 5; ++i) CHECK(refuses(forged));
    CHECK(refuses(good.text));  // guessing is limited here as well
    CHECK(code_of([&] {
              service.add({someone.pem, "", "nonsense"}, from("192.0.2.4"));
          }) == ErrorCode::forbidden);
    service.expire_tokens();
    CHECK(tokens.size() == 1);
    add(someone, good.text, "192.0.2.5");
}

TEST_CASE_METHOD(CertificateFixture, "tokens need a name and a sensible validity") {
    for (const Duration validity : {Duration(0), Duration(-1h), Duration(24h * 400)})
        CHECK(code_of([&] { invite(validity); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { service.join_tokens().issue("", Role::admin, 1h, "", {}); }) ==
          ErrorCode::invalid_argument);
    CHECK(code_of([&] { service.join_tokens().issue(std::string("a\0b", 3), Role::admin, 1h, "", {}); }) ==
          ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(CertificateFixture, "of many who come with one token one gets in") {
    const std::string text = invite().text;
    std::vector<MadeCertificate> all;
    for (int i = 0; i < 8; ++i) all.push_back(make_certificate({"one of many"}));
    std::atomic<int> in = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&, i] {
                if (!code_of([&] { add(all[std::size_t(i)], text, "192.0.2." + std::to_string(i)); })) ++in;
            });
    }
    CHECK(in == 1);
    CHECK(service.list().size() == 1);
}

TEST_CASE_METHOD(CertificateFixture, "many strangers may come at once and hear of it later") {
    constexpr int strangers = 12;
    set_password("secret");
    std::atomic<int> added = 0;
    std::atomic<int> refused = 0;
    const auto answered = std::make_shared<std::latch>(strangers + 1);
    for (int i = 0; i <= strangers; ++i)
        service.add_later({make_certificate({"stranger"}).pem, i < strangers ? "secret" : "wrong", ""},
                          from(here), [&, answered](const std::exception_ptr& error) {
                              ++(error ? refused : added);
                              answered->count_down();
                          });
    answered->wait();
    CHECK(added == strangers);
    CHECK(refused == 1);
}

}  // namespace svc::test
