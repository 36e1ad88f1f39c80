#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/services/trust/oidc/id_token.h"
#include "libsvc/services/trust/oidc/user_claims.h"
#include "tests/support/error_code.h"
#include "tests/support/signing_key.h"

namespace svc::test {

namespace {

constexpr std::int64_t now = 1'700'000'000;
const ExpectedToken expected{"https://login", "svc", "n", from_unix_seconds(now)};

Json good_claims() {
    return Json::object({{"iss", "https://login"},
                         {"aud", "svc"},
                         {"sub", "u1"},
                         {"iat", now},
                         {"exp", now + 300},
                         {"nonce", "n"}});
}

// The refusal of good claims of which one is another; null: it is absent.
std::string refusal_with(const std::string& name, const Json& value) {
    Json claims = good_claims();
    claims.set(name, value);
    if (value.is_null()) claims.erase(name);
    return message_of([&] { check_claims(claims, expected); });
}

bool accepts(const std::string& keys, const std::string& token) {
    return is_signed_by_one_of(parse_key_set(keys), parse_id_token(token));
}

std::string refusal_of_token(const std::string& token) {
    CHECK(code_of([&] { parse_id_token(token); }) == ErrorCode::forbidden);
    return message_of([&] { parse_id_token(token); });
}

std::string unsigned_token(const std::string& header, const std::string& body,
                           const std::string& signature = "") {
    return base64url_encode(header) + "." + base64url_encode(body) + "." + base64url_encode(signature);
}

ConfigValues settings(std::map<std::string, std::string, std::less<>> set) {
    return ConfigValues(std::move(set));
}

}  // namespace

TEST_CASE("a token is accepted by the key that has signed it") {
    const SigningKey rsa = SigningKey::rsa("r"), point = SigningKey::p256("p");
    const std::string keys = key_set({rsa, point});
    CHECK(accepts(keys, rsa.token("RS256", good_claims())));
    CHECK(accepts(keys, rsa.token("PS256", good_claims())));
    CHECK(accepts(keys, point.token("ES256", good_claims())));
    CHECK(accepts(keys, point.token_with(Json::object({{"alg", "ES256"}}), good_claims())));  // names no key
    CHECK(parse_id_token(rsa.token("RS256", good_claims())).claims == good_claims());

    CHECK_FALSE(accepts(keys, SigningKey::rsa("r").token("RS256", good_claims())));
    CHECK_FALSE(
        accepts(keys, rsa.token_with(Json::object({{"alg", "RS256"}, {"kid", "other"}}), good_claims())));
    CHECK_FALSE(accepts(keys, rsa.token_with(Json::object({{"alg", "RS256"}, {"kid", "p"}}), good_claims())));
    CHECK_FALSE(
        accepts(keys, point.token_with(Json::object({{"alg", "ES256"}, {"kid", "r"}}), good_claims())));
}

TEST_CASE("no part of a signed token can be changed") {
    const SigningKey key = SigningKey::p256("p");
    const std::string keys = key_set({key}), token = key.token("ES256", good_claims());
    Json others = good_claims();
    others.set("sub", "root");
    const auto body = token.find('.') + 1, signature = token.rfind('.');
    CHECK_FALSE(
        accepts(keys, token.substr(0, body) + base64url_encode(others.dump()) + token.substr(signature)));
    CHECK_FALSE(accepts(keys, token.substr(0, signature + 1)));
    CHECK_FALSE(accepts(keys, token.substr(0, signature + 1) + base64url_encode(std::string(64, '\0'))));
}

TEST_CASE("tokens without a signature or with a shared secret are refused by name") {
    const SigningKey key = SigningKey::rsa("r");
    const std::string body = good_claims().dump();
    for (const char* name : {"none", "None", "HS256", "HS512", "RS1", "ES384", ""})
        CHECK_THAT(refusal_of_token(unsigned_token(Json::object({{"alg", name}, {"kid", "r"}}).dump(), body)),
                   Catch::Contains("signature of the kind"));
    // The public key as the secret of a keyed hash.
    const std::string text = base64url_encode(R"({"alg":"HS256","kid":"r"})") + "." + base64url_encode(body);
    const std::string secret = base64url_decode(key.web_key().at("n").as_string());
    CHECK_THAT(refusal_of_token(text + "." + base64url_encode(hmac_sha256(secret, text))),
               Catch::Contains("'HS256'"));
}

TEST_CASE("malformed tokens are refused") {
    const std::string header = R"({"alg":"RS256"})";
    CHECK(refusal_of_token("") == "ID token does not have three parts");
    CHECK(refusal_of_token("a.b") == "ID token does not have three parts");
    CHECK(refusal_of_token("a.b.c.d") == "ID token does not have three parts");
    CHECK(refusal_of_token(std::string(70'000, 'a')) == "ID token is longer than 64 KiB");
    CHECK_THAT(refusal_of_token("*.e30.e30"), Catch::StartsWith("ID token header makes no sense: "));
    CHECK_THAT(refusal_of_token(unsigned_token("[]", "{}")),
               Catch::StartsWith("ID token header makes no sense: "));
    CHECK_THAT(refusal_of_token(unsigned_token("{}", "{}")), Catch::Contains("alg is required"));
    CHECK_THAT(refusal_of_token(unsigned_token(R"({"alg":5})", "{}")), Catch::Contains("alg"));
    CHECK_THAT(refusal_of_token(unsigned_token(R"({"alg":"RS256","kid":[]})", "{}")), Catch::Contains("kid"));
    CHECK_THAT(refusal_of_token(unsigned_token(R"({"alg":"RS256","crit":["b64"]})", "{}")),
               Catch::Contains("crit"));
    CHECK_THAT(refusal_of_token(unsigned_token(header, "null")),
               Catch::StartsWith("ID token body makes no sense: "));
    CHECK_THAT(refusal_of_token(unsigned_token(header, R"({"a":1,"a":2})")), Catch::Contains("body"));
    CHECK_THAT(refusal_of_token(base64url_encode(header) + ".e30.%"), Catch::Contains("signature"));
}

TEST_CASE("each claim that is wrong is named") {
    CHECK_NOTHROW(check_claims(good_claims(), expected));
    CHECK(refusal_with("iss", "https://other") ==
          "ID token is of the issuer 'https://other' and not of oidc.issuer");
    CHECK_THAT(refusal_with("iss", nullptr), Catch::Contains("iss is required"));
    CHECK_THAT(refusal_with("iss", 5), Catch::Contains("iss"));
    for (const Json& audience : {Json("other"), Json(), Json::array(), Json::array({"other"})})
        CHECK_THAT(refusal_with("aud", audience), Catch::Contains("is not for this service (aud)"));
    CHECK_THAT(refusal_with("aud", Json::object()), Catch::Contains("makes no sense"));
    CHECK_THAT(refusal_with("aud", Json::array({1})), Catch::Contains("makes no sense"));
    CHECK(refusal_with("aud", Json::array({"svc"})).empty());
    CHECK_THAT(refusal_with("aud", Json::array({"svc", "other"})), Catch::Contains("azp"));
    CHECK_THAT(refusal_with("azp", "other"), Catch::Contains("(azp)"));
    CHECK(refusal_with("azp", "svc").empty());
    CHECK_THAT(refusal_with("nonce", "m"), Catch::Contains("(nonce)"));
    CHECK_THAT(refusal_with("nonce", nullptr), Catch::Contains("(nonce)"));
    CHECK_THAT(refusal_with("nonce", true), Catch::Contains("nonce"));
}

TEST_CASE("clocks may differ by a minute") {
    CHECK(refusal_with("exp", now - 59).empty());
    CHECK(refusal_with("exp", now - 60) == "ID token has expired (exp)");
    CHECK(refusal_with("iat", now + 60).empty());
    CHECK_THAT(refusal_with("iat", now + 61), Catch::Contains("(iat)"));
    CHECK(refusal_with("nbf", now + 60).empty());
    CHECK_THAT(refusal_with("nbf", now + 61), Catch::Contains("(nbf)"));
    CHECK(refusal_with("exp", nullptr) == "ID token lacks the claim exp");
    CHECK(refusal_with("iat", nullptr) == "ID token lacks the claim iat");
    CHECK_THAT(refusal_with("exp", "tomorrow"), Catch::Contains("exp"));
    CHECK(refusal_with("exp", -1e300) == "ID token has expired (exp)");
    CHECK(refusal_with("exp", now + 0.5).empty());
}

TEST_CASE("a key set is read with what it has that can be used") {
    Json odd = SigningKey::rsa("alone").web_key();
    const auto with = [&](const char* name, const Json& value) {
        Json changed = odd;
        changed.set(name, value);
        return changed;
    };
    const Json list = Json::array({with("use", "enc"), with("kty", "oct"), with("kty", "OKP"), with("kty", 5),
                                   with("n", "!"), with("n", Json::array()), with("alg", "HS256"),
                                   with("alg", "ES256"), with("kid", 5), Json(7), Json(), odd});
    const auto keys = parse_key_set(Json::object({{"keys", list}, {"more", 1}}).dump());
    REQUIRE(keys.size() == 1);
    CHECK(keys[0].fits("alone", SignatureAlgorithm::rs256));
    CHECK(keys[0].fits("", SignatureAlgorithm::ps256));
    CHECK_FALSE(keys[0].fits("alone", SignatureAlgorithm::es256));
    CHECK_FALSE(keys[0].fits("other", SignatureAlgorithm::rs256));
    const auto limited = parse_key_set(Json::object({{"keys", Json::array({with("alg", "PS256")})}}).dump());
    CHECK_FALSE(limited.at(0).fits("alone", SignatureAlgorithm::rs256));
}

TEST_CASE("key sets that cannot be used are refused") {
    const Json many = JsonArray(101, Json::object({{"kty", "oct"}}));
    for (const std::string& text :
         {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"keys":{}})"),
          std::string(R"({"keys":[]})"), std::string(R"({"keys":[{"kty":"oct","k":"c2VjcmV0"}]})"),
          std::string(R"({"keys":)") + std::string(1000, '['), Json::object({{"keys", many}}).dump()})
        CHECK(code_of([&] { parse_key_set(text); }) == ErrorCode::invalid_argument);
}

TEST_CASE("a user has the role that a claim gives") {
    const auto roles = settings({{"oidc.roles", "chiefs=admin,ops=operator"}});
    Json claims = Json::object({{"sub", "u1"}, {"email", "a@b"}, {"roles", Json::array({7, "ops", "x"})}});
    CHECK(user_of(claims, roles).role == Role::operator_);
    CHECK(user_of(claims, roles).name == "a@b");
    claims.set("roles", "chiefs");
    CHECK(user_of(claims, roles).role == Role::admin);
    claims.set("roles", Json::object({{"chiefs", true}}));
    CHECK(message_of([&] { user_of(claims, roles); }) ==
          "user 'a@b' has no role here: nothing in the claim 'roles' is named by oidc.roles");
    CHECK(user_of(claims, settings({{"oidc.roles", "*=viewer"}})).role == Role::viewer);
    CHECK(code_of([&] { user_of(claims, ConfigValues()); }) == ErrorCode::forbidden);  // no rule: nobody
}

TEST_CASE("the role claim may be a path or have dots in its name") {
    const Json claims = Json::object({{"sub", "u1"},
                                      {"realm_access", Json::object({{"roles", Json::array({"ops"})}})},
                                      {"https://example.com/roles", "ops"}});
    for (const char* claim : {"realm_access.roles", "https://example.com/roles"})
        CHECK(user_of(claims, settings({{"oidc.roles", "ops=operator"}, {"oidc.role_claim", claim}})).role ==
              Role::operator_);
    for (const char* claim : {"realm_access", "realm_access.roles.0", "sub.x", ".", "realm_access."})
        CHECK(code_of([&] {
                  user_of(claims, settings({{"oidc.roles", "ops=operator"}, {"oidc.role_claim", claim}}));
              }) == ErrorCode::forbidden);
}

TEST_CASE("an address that is not verified is no name and gives no role") {
    Json claims = Json::object({{"sub", "u1"}, {"email", "boss@b"}, {"email_verified", false}});
    const auto by_address = settings({{"oidc.roles", "boss@b=admin,*=viewer"}, {"oidc.role_claim", "email"}});
    CHECK(user_of(claims, by_address).name == "u1");
    CHECK(user_of(claims, by_address).role == Role::viewer);
    claims.set("email_verified", true);
    CHECK(user_of(claims, by_address).name == "boss@b");
    CHECK(user_of(claims, by_address).role == Role::admin);
}

TEST_CASE("a user has a name that can be shown") {
    const auto all = settings({{"oidc.roles", "*=viewer"}});
    CHECK(user_of(Json::object({{"sub", "u1"}, {"email", 5}}), all).name == "u1");
    for (const Json& claims : {Json::object(), Json::object({{"sub", ""}}), Json::object({{"sub", "a\nb"}}),
                               Json::object({{"email", std::string(101, 'a')}, {"sub", "u1"}})})
        CHECK(code_of([&] { user_of(claims, all); }) == ErrorCode::forbidden);
}

}  // namespace svc::test
