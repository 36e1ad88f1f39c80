#include "libsvc/services/trust/oidc/id_token.h"

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_token = 64U << 10;
constexpr std::int64_t skew = 60;  // seconds

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::forbidden, "ID token " + why);
}

// Whatever is wrong with the form of a token is a refusal of it.
template <class Work>
auto refusing(std::string_view part, Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (const Error& e) {
        if (e.code() == ErrorCode::forbidden) throw;
        refuse(std::string(part) + " makes no sense: " + e.what());
    }
}

Json json_part(const std::string& text) {
    Json json = Json::parse(base64url_decode(text));
    if (!json.is_object()) throw Error(ErrorCode::invalid_argument, "not an object");
    return json;
}

void read_header(const JsonFields& header, UncheckedToken& token) {
    const std::string name = header.require_string("alg");
    const auto algorithm = parse_signature_algorithm(name);
    if (!algorithm)
        refuse("has a signature of the kind " + quoted(name) + ": RS256, PS256 and ES256 are accepted");
    if (header.raw("crit") != nullptr) refuse("has extensions that must be understood (crit)");
    token.algorithm = *algorithm;
    token.key_id = header.string("kid").value_or("");
}

bool is_audience(const Json& audience, const std::string& client) {
    if (audience.is_string()) return audience.as_string() == client;
    return std::ranges::any_of(audience.as_array(),
                               [&](const Json& one) { return one.as_string() == client; });
}

void check_audience(const JsonFields& claims, const std::string& client) {
    const Json* const audience = claims.raw("aud");
    if (audience == nullptr || !is_audience(*audience, client))
        refuse("is not for this service (aud): oidc.client_id is " + quoted(client));
    const auto party = claims.string("azp");
    if (party && *party != client) refuse("was made for the client " + quoted(*party) + " (azp)");
    if (!party && audience->is_array() && audience->as_array().size() > 1)
        refuse("is for several services and does not say which client it was made for (azp)");
}

// Seconds may have a fraction.
double seconds_of(const JsonFields& claims, std::string_view name) {
    const auto seconds = claims.number(name);
    if (!seconds) refuse("lacks the claim " + std::string(name));
    return *seconds;
}

void check_times(const JsonFields& claims, Time time) {
    const auto now = static_cast<double>(to_unix_seconds(time));
    if (!(now < seconds_of(claims, "exp") + skew)) refuse("has expired (exp)");
    if (!(seconds_of(claims, "iat") <= now + skew)) refuse("is from the future (iat): compare the clocks");
    if (claims.raw("nbf") != nullptr && !(seconds_of(claims, "nbf") <= now + skew))
        refuse("is not valid yet (nbf)");
}

}  // namespace

UncheckedToken parse_id_token(std::string_view text) {
    if (text.size() > max_token) refuse("is longer than 64 KiB");
    const auto parts = split(text, '.');
    if (parts.size() != 3) refuse("does not have three parts");
    UncheckedToken token;
    refusing("header", [&] {
        const Json header = json_part(parts[0]);
        read_header(JsonFields(header), token);
    });
    token.claims = refusing("body", [&] { return json_part(parts[1]); });
    token.signature = refusing("signature", [&] { return base64url_decode(parts[2]); });
    token.signed_text = parts[0] + "." + parts[1];
    return token;
}

bool is_signed_by_one_of(const std::vector<WebKey>& keys, const UncheckedToken& token) {
    return std::ranges::any_of(keys, [&](const WebKey& key) {
        return key.fits(token.key_id, token.algorithm) &&
               key.key.has_signed(token.algorithm, token.signed_text, token.signature);
    });
}

void check_claims(const Json& json, const ExpectedToken& expected) {
    refusing("body", [&] {
        const JsonFields claims(json);
        if (const std::string issuer = claims.require_string("iss"); issuer != expected.issuer)
            refuse("is of the issuer " + quoted(issuer) + " and not of oidc.issuer");
        check_audience(claims, expected.client_id);
        check_times(claims, expected.now);
        if (!equal_constant_time(claims.string("nonce").value_or(""), expected.nonce))
            refuse("answers another login (nonce)");
    });
}

}  // namespace svc
