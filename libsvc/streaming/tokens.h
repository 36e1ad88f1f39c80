#pragma once
// Tokens of accounts and of sockets: which caveats each has, and what it allows (docs/streaming.md,
// "Tokens"). The format and the signature are in macaroon.h; libmacaroons is used by macaroon.cpp alone.
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

struct Macaroon;

enum class SocketRole { master, slave, media };  // instance, client; a client's media where no other path is
std::string_view to_text(SocketRole role);

// The rights that the token in a socket's URL gives.
struct SocketGrant {
    std::string session;
    SocketRole role = SocketRole::slave;
    std::string client;  // of a slave, of media: the one connection it is for; "" for masters
};

// Thread-safe.
class TokenMint {
  public:
    // `secret`: 64 random bytes; `location`: the gateway's name, readable in each token.
    explicit TokenMint(std::string secret, std::string location = "stream-gateway");
    // The secret in `file` (0600), made when it is absent.
    static std::string load_secret(const std::string& file);

    std::string account_token(const std::string& account, Time expires) const;
    struct AccountToken {
        std::string account;
        Time expires{};
    };
    // Throws unauthenticated "Authorization failed" unless the gateway made it and it has not expired.
    AccountToken read_account_token(std::string_view token, Time now) const;

    std::string socket_token(const SocketGrant& grant, std::optional<Time> expires) const;
    // Throws forbidden when the gateway did not make it, it has expired, or it is no socket token.
    SocketGrant read_socket_token(std::string_view token, Time now) const;

  private:
    std::string signed_text(Macaroon token) const;

    std::string secret_;
    std::string location_;
};

std::string token_digest(std::string_view token);  // SHA-256, hex: all that the store keeps of a token

}  // namespace svc
