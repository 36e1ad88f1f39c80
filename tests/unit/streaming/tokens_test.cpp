#include "libsvc/streaming/tokens.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/error_code.h"

using namespace svc;
using svc::test::code_of;

namespace {

const std::string secret(64, 's');
const Time now = from_rfc3339("2024-01-02T03:04:05Z");
const Time later = now + std::chrono::minutes(5);
const SocketGrant slave{"0123456789abcdefghij", SocketRole::slave, "c1"};
const SocketGrant master{"0123456789abcdefghij", SocketRole::master, ""};

std::string field(char type, std::string_view data) {
    return std::string(1, type) + static_cast<char>(data.size()) + std::string(data);
}

// Written from the definition of macaroons, without the code under test.
std::string token_by_hand(std::string_view identifier, const std::vector<std::string>& caveats,
                          std::string_view key = secret) {
    std::string signature = hmac_sha256(hmac_sha256("macaroons-key-generator", key), identifier);
    std::string bytes = "\x02" + field(1, "stream-gateway") + field(2, identifier) + std::string(1, '\0');
    for (const auto& caveat : caveats) {
        signature = hmac_sha256(signature, caveat);
        bytes += field(2, caveat) + std::string(1, '\0');
    }
    return base64url_encode(bytes + std::string(1, '\0') + field(6, signature));
}

bool account_refused(const std::string& token, Time when = now) {
    return code_of([&] { TokenMint(secret).read_account_token(token, when); }) == ErrorCode::unauthenticated;
}

bool socket_refused(const std::string& token, Time when = now) {
    return code_of([&] { TokenMint(secret).read_socket_token(token, when); }) == ErrorCode::forbidden;
}

}  // namespace

TEST_CASE("an account's token has the bytes and the signature of a macaroon, version 2") {
    const auto token = TokenMint(secret).account_token("alice", later);
    CHECK(token == token_by_hand("alice", {"2024-01-02T03:09:05.000000000Z"}));
    CHECK(token ==
          "AgEOc3RyZWFtLWdhdGV3YXkCBWFsaWNlAAIeMjAyNC0wMS0wMlQwMzowOTowNS4wMDAwMD"
          "AwMDBaAAAGIM67byWtPHuahPwsfjkPt5yziP2SwI8iMiOsNgU9NK_m");
}

TEST_CASE("socket tokens name session, role, client and expiry in this order") {
    const TokenMint mint(secret);
    CHECK(mint.socket_token(slave, later) ==
          token_by_hand("/sockets", {"session=0123456789abcdefghij", "role=slave", "client=c1",
                                     "2024-01-02T03:09:05.000000000Z"}));
    CHECK(mint.socket_token(master, {}) ==
          token_by_hand("/sockets", {"session=0123456789abcdefghij", "role=master"}));
}

TEST_CASE("what was put into a token is read from it") {
    const TokenMint mint(secret);
    const auto account = mint.read_account_token(mint.account_token("alice", later), now);
    CHECK(account.account == "alice");
    CHECK(account.expires == later);
    const auto grant = mint.read_socket_token(mint.socket_token(slave, later), now);
    CHECK(grant.session == slave.session);
    CHECK(grant.role == SocketRole::slave);
    CHECK(grant.client == "c1");
    const auto instance = mint.read_socket_token(mint.socket_token(master, {}), now + std::chrono::years(50));
    CHECK(instance.role == SocketRole::master);
    CHECK(instance.client.empty());
}

TEST_CASE("a long location takes a length of two bytes") {
    const TokenMint mint(secret, std::string(300, 'l'));
    CHECK(mint.read_account_token(mint.account_token("alice", later), now).account == "alice");
}

TEST_CASE("tokens that are over are refused") {
    const TokenMint mint(secret);
    CHECK(account_refused(mint.account_token("alice", later), later));
    CHECK(socket_refused(mint.socket_token(slave, later), later));
}

TEST_CASE("a token with any character changed is refused") {
    const TokenMint mint(secret);
    for (const auto& token : {mint.account_token("alice", later), mint.socket_token(slave, later)}) {
        for (std::size_t i = 0; i < token.size(); ++i) {
            std::string changed = token;
            changed[i] = changed[i] == 'A' ? 'B' : 'A';
            INFO(i);
            // The location is a hint that the signature of macaroons does not cover.
            const bool in_location = i >= 3 && i <= 22;
            CHECK((in_location || (account_refused(changed) && socket_refused(changed))));
        }
    }
}

TEST_CASE("a token of another secret is refused") {
    CHECK(account_refused(token_by_hand("alice", {"2024-01-02T03:09:05.000000000Z"}, std::string(64, 'x'))));
    CHECK(socket_refused(TokenMint(std::string(64, 'x')).socket_token(slave, later)));
}

TEST_CASE("a token of one kind is worth nothing as the other") {
    const TokenMint mint(secret);
    CHECK(socket_refused(mint.account_token("alice", later)));
    CHECK(account_refused(mint.socket_token(slave, later)));
    CHECK(account_refused(token_by_hand("/sockets", {"2024-01-02T03:09:05.000000000Z"})));
    CHECK(socket_refused(token_by_hand("alice", {"session=a", "role=master"})));
}

TEST_CASE("well signed tokens of other shapes are refused") {
    const std::string time = "2024-01-02T03:09:05.000000000Z";
    for (const std::vector<std::string>& caveats :
         std::vector<std::vector<std::string>>{{}, {"soon"}, {""}, {time, time}, {time, "session=a"}}) {
        CHECK(account_refused(token_by_hand("alice", caveats)));
    }
    for (const std::vector<std::string>& caveats :
         std::vector<std::vector<std::string>>{{},
                                               {"session=a"},
                                               {"session=", "role=master"},
                                               {"session=a", "role=owner"},
                                               {"role=master", "session=a"},
                                               {"session=a", "role=slave"},
                                               {"session=a", "role=slave", time},
                                               {"session=a", "role=slave", "client="},
                                               {"session=a", "role=slave", "client=c", "soon"},
                                               {"session=a", "role=slave", "client=c", time, time},
                                               {"session=a", "role=master", "session=b"}}) {
        CHECK(socket_refused(token_by_hand("/sockets", caveats)));
    }
}

TEST_CASE("malformed and huge texts are refused as tokens") {
    const auto token = TokenMint(secret).account_token("alice", later);
    const auto bytes = base64url_decode(token);
    for (const std::string& text :
         {std::string(), std::string("=="), std::string("\0\0", 2), std::string(1U << 20U, 'A'),
          token + "AAAA", token + "=", " " + token, base64_encode(bytes), base64url_encode(bytes + '\0'),
          base64url_encode("\x01" + bytes.substr(1)),
          base64url_encode(std::string("\x02\x01\xff\xff\xff\xff", 6)),
          base64url_encode(bytes.substr(0, bytes.size() - 1))}) {
        INFO(text.substr(0, 80));
        CHECK(account_refused(text));
        CHECK(socket_refused(text));
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(account_refused(base64url_encode(bytes.substr(0, size))));
}

TEST_CASE("a length has one spelling") {
    auto bytes = base64url_decode(TokenMint(secret).account_token("alice", later));
    bytes.replace(bytes.find("\x02\x05"
                             "alice"),
                  2, std::string("\x02\x85\x00", 3));
    CHECK(account_refused(base64url_encode(bytes)));
}

TEST_CASE("the secret is made once, kept from others, and refused when damaged") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path());
    const auto file = directory.path() / "token.secret";
    const auto made = TokenMint::load_secret(file);
    CHECK(made.size() == 64);
    CHECK(TokenMint::load_secret(file) == made);
    CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::mask) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    write_file_atomically(file, "short");
    CHECK(code_of([&] { TokenMint::load_secret(file); }) == ErrorCode::internal);
    CHECK(code_of([] { TokenMint("short"); }) == ErrorCode::internal);
}
