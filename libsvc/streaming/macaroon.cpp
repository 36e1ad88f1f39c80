#include "libsvc/streaming/macaroon.h"

#include <macaroons.h>

#include <memory>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t largest_text = 2048;
constexpr std::size_t signature_bytes = 32;
constexpr char version = 2;
enum Field : unsigned { end = 0, location_field = 1, identifier_field = 2, signature_field = 6 };

struct Free {
    void operator()(macaroon* made) const { macaroon_destroy(made); }
};
using Made = std::unique_ptr<macaroon, Free>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

Made require(macaroon* made) {
    if (!made) throw Error(ErrorCode::internal, "cannot make a token");
    return Made(made);
}

void put_field(std::string& bytes, Field type, std::string_view data) {
    bytes += static_cast<char>(type);
    std::size_t size = data.size();
    for (; size > 0x7F; size >>= 7U) bytes += static_cast<char>(0x80U | (size & 0x7FU));
    bytes += static_cast<char>(size);
    bytes += data;
}

// Reads what put_field() wrote; every step answers whether it was there.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    bool take(char expected) {
        if (!next_is(expected)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool next_is(char expected) const { return !rest_.empty() && rest_.front() == expected; }
    bool field(Field type, std::string& data) {
        if (!take(static_cast<char>(type))) return false;
        const auto size = length();
        if (!size || *size > rest_.size()) return false;
        data = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return true;
    }
    bool at_end() const { return rest_.empty(); }

  private:
    // Two bytes are enough for the largest text, and the shortest form of a length is the only one: a token
    // has one spelling.
    std::optional<std::size_t> length() {
        if (rest_.empty()) return {};
        const auto low = static_cast<unsigned char>(rest_[0]);
        rest_.remove_prefix(1);
        if (low < 0x80U) return low;
        if (rest_.empty()) return {};
        const auto high = static_cast<unsigned char>(rest_[0]);
        rest_.remove_prefix(1);
        if (high == 0 || high >= 0x80U) return {};
        return (low & 0x7FU) | static_cast<std::size_t>(high) << 7U;
    }

    std::string_view rest_;
};

bool read_caveats(Reader& reader, std::vector<std::string>& caveats) {
    while (!reader.next_is(end))
        if (!reader.field(identifier_field, caveats.emplace_back()) || !reader.take(end)) return false;
    return reader.take(end);
}

}  // namespace

std::string macaroon_signature(const Macaroon& token, std::string_view secret) {
    macaroon_returncode code = MACAROON_SUCCESS;
    Made made =
        require(macaroon_create(bytes_of(token.location), token.location.size(), bytes_of(secret),
                                secret.size(), bytes_of(token.identifier), token.identifier.size(), &code));
    for (const auto& caveat : token.caveats)
        made = require(macaroon_add_first_party_caveat(made.get(), bytes_of(caveat), caveat.size(), &code));
    const unsigned char* signature = nullptr;
    std::size_t size = 0;
    ::macaroon_signature(made.get(), &signature, &size);
    return {reinterpret_cast<const char*>(signature), size};
}

std::string to_text(const Macaroon& token) {
    std::string bytes(1, version);
    put_field(bytes, location_field, token.location);
    put_field(bytes, identifier_field, token.identifier);
    bytes += static_cast<char>(end);
    for (const auto& caveat : token.caveats) {
        put_field(bytes, identifier_field, caveat);
        bytes += static_cast<char>(end);
    }
    bytes += static_cast<char>(end);
    put_field(bytes, signature_field, token.signature);
    return base64url_encode(bytes);
}

std::optional<Macaroon> parse_macaroon(std::string_view text) {
    if (text.size() > largest_text) return {};
    std::string bytes;
    try {
        bytes = base64url_decode(text);
    } catch (const Error&) {
        return {};
    }
    Macaroon token;
    Reader reader(bytes);
    const bool whole = reader.take(version) && reader.field(location_field, token.location) &&
                       reader.field(identifier_field, token.identifier) && reader.take(end) &&
                       read_caveats(reader, token.caveats) &&
                       reader.field(signature_field, token.signature) && reader.at_end() &&
                       token.signature.size() == signature_bytes;
    return whole ? std::optional(std::move(token)) : std::nullopt;
}

}  // namespace svc
