#include "libsvc/net/tls/signature_key.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "tests/support/error_code.h"
#include "tests/support/signing_key.h"

namespace svc::test {

namespace {

using enum SignatureAlgorithm;

SignatureKey public_key(const SigningKey& key) {
    const Json json = key.web_key();
    const auto number = [&](const char* name) { return base64url_decode(json.at(name).as_string()); };
    return json.at("kty") == Json("RSA") ? SignatureKey::rsa(number("n"), number("e"))
                                         : SignatureKey::p256(number("x"), number("y"));
}

void check_refused(const std::function<SignatureKey()>& make) {
    CHECK(code_of([&] { make(); }) == ErrorCode::invalid_argument);
}

}  // namespace

TEST_CASE("a public key knows the signatures of its private key and no others") {
    const SigningKey rsa = SigningKey::rsa("r"), other_rsa = SigningKey::rsa("o"),
                     point = SigningKey::p256("p");
    const SignatureKey rsa_key = public_key(rsa), point_key = public_key(point);
    CHECK(rsa_key.has_signed(rs256, "text", rsa.sign("RS256", "text")));
    CHECK(rsa_key.has_signed(ps256, "text", rsa.sign("PS256", "text")));
    CHECK(point_key.has_signed(es256, "text", point.sign("ES256", "text")));

    CHECK_FALSE(rsa_key.has_signed(rs256, "texts", rsa.sign("RS256", "text")));
    CHECK_FALSE(rsa_key.has_signed(rs256, "text", other_rsa.sign("RS256", "text")));
    CHECK_FALSE(point_key.has_signed(es256, "text", SigningKey::p256("q").sign("ES256", "text")));
}

TEST_CASE("a signature counts only for its own algorithm") {
    const SigningKey rsa = SigningKey::rsa("r"), point = SigningKey::p256("p");
    const SignatureKey rsa_key = public_key(rsa), point_key = public_key(point);
    CHECK_FALSE(rsa_key.has_signed(ps256, "text", rsa.sign("RS256", "text")));
    CHECK_FALSE(rsa_key.has_signed(rs256, "text", rsa.sign("PS256", "text")));
    CHECK_FALSE(rsa_key.has_signed(es256, "text", point.sign("ES256", "text")));
    CHECK_FALSE(point_key.has_signed(rs256, "text", rsa.sign("RS256", "text")));
    CHECK_FALSE(rsa_key.fits(es256));
    CHECK_FALSE(point_key.fits(rs256));
}

TEST_CASE("what is no signature is none") {
    const SignatureKey rsa = public_key(SigningKey::rsa("r")), point = public_key(SigningKey::p256("p"));
    for (const std::string& text :
         {std::string(), std::string("x"), std::string(64, '\0'), std::string(64, '\xff'),
          std::string(256, '\0'), std::string(100'000, 'x')}) {
        CHECK_FALSE(rsa.has_signed(rs256, "text", text));
        CHECK_FALSE(rsa.has_signed(ps256, "text", text));
        CHECK_FALSE(point.has_signed(es256, "text", text));
    }
}

TEST_CASE("weak and malformed keys are refused") {
    const std::string exponent("\x01\x00\x01", 3);
    const std::string modulus = base64url_decode(SigningKey::rsa("r").web_key().at("n").as_string());
    const Json small = SigningKey::rsa("s", 1024).web_key();
    check_refused([&] { return SignatureKey::rsa(base64url_decode(small.at("n").as_string()), exponent); });
    for (const std::string& bad :
         {std::string(), std::string(1, '\x01'), std::string(1, '\x02'), std::string(9, '\xff')})
        check_refused([&] { return SignatureKey::rsa(modulus, bad); });
    check_refused([&] { return SignatureKey::rsa("", exponent); });
    check_refused([&] { return SignatureKey::rsa(std::string(256, '\xfe'), exponent); });  // even
    check_refused([&] { return SignatureKey::rsa(std::string(2000, '\xff'), exponent); });

    const std::string number(32, '\x01');
    check_refused([&] { return SignatureKey::p256(number, number); });  // not on the curve
    check_refused([&] { return SignatureKey::p256(std::string(32, '\0'), std::string(32, '\0')); });
    check_refused([&] { return SignatureKey::p256(number + "x", number); });
    check_refused([&] { return SignatureKey::p256("", ""); });
}

}  // namespace svc::test
