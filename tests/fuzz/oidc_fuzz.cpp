// What an OpenID provider says: its key set, its discovery document, ID tokens and their claims. The first
// byte chooses. Changes are groups of two bytes, a place and a change of it, that are applied to a good
// token: no changed token is good.
#include <cstdlib>
#include <string>

#include "libsvc/model/cluster/oidc.h"
#include "libsvc/services/trust/oidc/id_token.h"
#include "libsvc/services/trust/oidc/login_seal.h"
#include "libsvc/services/trust/oidc/provider.h"
#include "libsvc/services/trust/oidc/user_claims.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"
#include "tests/support/signing_key.h"

namespace svc::fuzz::oidc_target {

namespace {

constexpr std::int64_t now = 1'700'000'000;
constexpr const char* issuer = "https://login";

struct World {
    test::SigningKey key = test::SigningKey::p256("k");
    std::vector<WebKey> keys = parse_key_set(test::key_set({key}));
    ExpectedToken expected{issuer, "svc", "n", from_unix_seconds(now)};
    std::string token = key.token("ES256", Json::object({{"iss", issuer},
                                                         {"aud", "svc"},
                                                         {"sub", "u"},
                                                         {"iat", now},
                                                         {"exp", now + 300},
                                                         {"nonce", "n"}}));
    ConfigValues config{{{"oidc.roles", "a=admin,*=viewer"}, {"oidc.role_claim", "realm_access.roles"}}};
    LoginSeal seal{"a key"};
    std::string sealed =
        seal.close({"id", from_unix_seconds(now + 600), "https://svc/1.0/oidc/callback", "/ui/"});
};

World& world() {
    static World made;
    return made;
}

std::string changed(std::string text, std::string_view changes) {
    for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
        char& byte = text[static_cast<unsigned char>(changes[i]) * 3U % text.size()];
        byte = static_cast<char>(byte ^ changes[i + 1]);
    }
    return text;
}

// A token that is not refused is the good one.
void check_token(const std::string& text) {
    const UncheckedToken token = parse_id_token(text);
    if (is_signed_by_one_of(world().keys, token) && text != world().token) std::abort();
    check_claims(token.claims, world().expected);
}

void check_seal(const std::string& text) {
    const PendingLogin login = world().seal.open(text, from_unix_seconds(now));
    if (text != world().sealed || login.return_to != "/ui/") std::abort();
}

// Keys that are read can be asked, and have signed nothing.
void check_keys(std::string_view text) {
    for (const WebKey& key : parse_key_set(text))
        for (const auto algorithm :
             {SignatureAlgorithm::rs256, SignatureAlgorithm::ps256, SignatureAlgorithm::es256})
            if (key.key.has_signed(algorithm, "text", std::string(64, 'x'))) std::abort();
}

void check_document(std::string_view text) {
    const ProviderDocument document = ProviderDocument::parse(text, issuer);
    for (const std::string& url :
         {document.authorization_endpoint, document.token_endpoint, document.key_set})
        if (!is_provider_url(url)) std::abort();
}

void check_user(std::string_view text) {
    const Json claims = Json::parse(text);
    if (user_of(claims, world().config).name.empty()) std::abort();
}

}  // namespace

FUZZ_TARGET(oidc)(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 7) {
        case 0:
            attempt([&] { check_keys(text); });
            break;
        case 1:
            attempt([&] { check_token(std::string(text)); });
            break;
        case 2:
            attempt([&] { check_token(changed(world().token, text)); });
            break;
        case 3:
            attempt([&] { check_document(text); });
            break;
        case 4:
            attempt([&] { check_user(text); });
            break;
        case 5:
            attempt([&] { check_seal(changed(world().sealed, text)); });
            break;
        default:
            attempt([&] { parse_role_rules(text); });
    }
    return 0;
}

}  // namespace svc::fuzz::oidc_target
