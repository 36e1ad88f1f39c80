#include "libsvc/streaming/tokens.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/streaming/macaroon.h"

namespace svc {

namespace {

constexpr std::size_t secret_bytes = 64;
// The identifier of socket tokens. No account can have this name, so that neither kind is taken for the
// other.
constexpr std::string_view socket_identifier = "/sockets";
constexpr std::string_view session_caveat = "session=";
constexpr std::string_view role_caveat = "role=";
constexpr std::string_view client_caveat = "client=";
constexpr std::array all_roles{SocketRole::master, SocketRole::slave, SocketRole::media};

std::optional<Macaroon> ours(std::string_view text, std::string_view secret) {
    auto token = parse_macaroon(text);
    if (!token || !equal_constant_time(macaroon_signature(*token, secret), token->signature)) return {};
    return token;
}

std::string_view after(std::string_view caveat, std::string_view key) {
    return caveat.starts_with(key) ? caveat.substr(key.size()) : std::string_view();
}

std::optional<Time> expiry_of(std::string_view caveat) {
    try {
        return from_rfc3339(caveat);
    } catch (const Error&) {
        return {};
    }
}

// The holder of a macaroon can add caveats to it, which no client of the gateway has reason to: other shapes
// are refused.
std::optional<SocketGrant> grant_in(const Macaroon& token, Time now) {
    if (token.identifier != socket_identifier || token.caveats.size() < 2 || token.caveats.size() > 4)
        return {};
    SocketGrant grant;
    grant.session = after(token.caveats[0], session_caveat);
    const auto role = after(token.caveats[1], role_caveat);
    const auto known = std::ranges::find_if(all_roles, [&](SocketRole one) { return role == to_text(one); });
    if (grant.session.empty() || known == all_roles.end()) return {};
    grant.role = *known;
    std::size_t next = 2;
    if (grant.role != SocketRole::master) {
        if (token.caveats.size() <= next) return {};
        grant.client = after(token.caveats[next++], client_caveat);
        if (grant.client.empty()) return {};
    }
    if (next < token.caveats.size()) {
        const auto expires = expiry_of(token.caveats[next++]);
        if (!expires || *expires <= now) return {};
    }
    return next == token.caveats.size() ? std::optional(grant) : std::nullopt;
}

[[noreturn]] void refuse_account() {
    throw Error(ErrorCode::unauthenticated, "Authorization failed");
}

}  // namespace

std::string_view to_text(SocketRole role) {
    if (role == SocketRole::media) return "media";
    return role == SocketRole::master ? "master" : "slave";
}

TokenMint::TokenMint(std::string secret, std::string location)
    : secret_(std::move(secret)), location_(std::move(location)) {
    if (secret_.size() != secret_bytes) throw Error(ErrorCode::internal, "the secret of tokens is damaged");
}

std::string TokenMint::load_secret(const std::string& file) {
    if (!std::filesystem::exists(file)) write_file_atomically(file, random_bytes(secret_bytes), 0600);
    std::string secret = read_file(file);
    if (secret.size() != secret_bytes) throw Error(ErrorCode::internal, "the secret of tokens is damaged");
    return secret;
}

std::string TokenMint::signed_text(Macaroon token) const {
    token.location = location_;
    token.signature = macaroon_signature(token, secret_);
    return svc::to_text(token);
}

std::string TokenMint::account_token(const std::string& account, Time expires) const {
    Macaroon token;
    token.identifier = account;
    token.caveats = {to_rfc3339(expires)};
    return signed_text(std::move(token));
}

TokenMint::AccountToken TokenMint::read_account_token(std::string_view text, Time now) const {
    const auto token = ours(text, secret_);
    if (!token || token->identifier.empty() || token->identifier == socket_identifier ||
        token->caveats.size() != 1)
        refuse_account();
    const auto expires = expiry_of(token->caveats[0]);
    if (!expires || *expires <= now) refuse_account();
    return {token->identifier, *expires};
}

std::string TokenMint::socket_token(const SocketGrant& grant, std::optional<Time> expires) const {
    Macaroon token;
    token.identifier = socket_identifier;
    token.caveats = {std::string(session_caveat) + grant.session,
                     std::string(role_caveat) + std::string(to_text(grant.role))};
    if (grant.role != SocketRole::master) token.caveats.push_back(std::string(client_caveat) + grant.client);
    if (expires) token.caveats.push_back(to_rfc3339(*expires));
    return signed_text(std::move(token));
}

SocketGrant TokenMint::read_socket_token(std::string_view text, Time now) const {
    const auto token = ours(text, secret_);
    const auto grant = token ? grant_in(*token, now) : std::nullopt;
    if (!grant) throw Error(ErrorCode::forbidden, "token is not valid");
    return *grant;
}

std::string token_digest(std::string_view token) {
    return sha256_hex(token);
}

}  // namespace svc
