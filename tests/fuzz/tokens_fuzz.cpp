// Tokens of instances (JWT), accounts and sockets (macaroons). The first byte chooses: the rest is a token,
// or groups of two bytes, a place and a change of it, that are applied to a good one. No changed token is
// good; and a macaroon has one spelling.
#include <array>
#include <cstdlib>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/services/trust/agent_tokens.h"
#include "libsvc/streaming/macaroon.h"
#include "libsvc/streaming/tokens.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"
#include "tests/support/manual_clock.h"

namespace svc::fuzz::tokens_target {

namespace {

struct World {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-fuzz-"};
    test::ManualClock clock;
    AgentTokens instances{directory.path() / "secret", clock};
    TokenMint mint{std::string(64, 'k')};
    std::string instance = instances.issue("c08p730j1qm6t2783da0");
    std::string account = mint.account_token("me", clock.now() + std::chrono::hours(1));
    std::string socket = mint.socket_token({"session", SocketRole::slave, "client"}, std::nullopt);
};

World& world() {
    static World made;
    return made;
}

std::string changed(std::string token, std::string_view changes) {
    for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
        char& byte = token[static_cast<unsigned char>(changes[i]) * 3U % token.size()];
        byte = static_cast<char>(byte ^ changes[i + 1]);
    }
    return token;
}

// A JWT's last letter has bits without meaning: another spelling of the same token says the same.
void check_instance(const std::string& token) {
    if (world().instances.check("Bearer " + token) != "c08p730j1qm6t2783da0") std::abort();
}
// The location, which comes first, is a hint that the signature of macaroons does not cover.
bool is_same(const std::string& one, const std::string& other) {
    constexpr std::size_t past_location = 24;
    return one.substr(past_location) == other.substr(past_location);
}
void check_account(const std::string& token) {
    world().mint.read_account_token(token, world().clock.now());
    if (!is_same(token, world().account)) std::abort();
}
void check_socket(const std::string& token) {
    world().mint.read_socket_token(token, world().clock.now());
    if (!is_same(token, world().socket)) std::abort();
}
void check_spelling(std::string_view text) {
    const auto token = parse_macaroon(text);
    if (token && to_text(*token) != text) std::abort();
}

}  // namespace

FUZZ_TARGET(tokens)(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const bool raw = (data[0] & 1) != 0;
    attempt([&] { check_instance(raw ? std::string(text) : changed(world().instance, text)); });
    attempt([&] { check_account(raw ? std::string(text) : changed(world().account, text)); });
    attempt([&] { check_socket(raw ? std::string(text) : changed(world().socket, text)); });
    attempt([&] { world().instances.check(text.empty() ? "" : std::string(text)); });
    check_spelling(text);
    return 0;
}

}  // namespace svc::fuzz::tokens_target
