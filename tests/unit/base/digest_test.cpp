#include "libsvc/base/digest.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

TEST_CASE("sha256 gives the known digests") {
    CHECK(svc::sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    svc::Sha256 hash;
    hash.update("a");
    hash.update("bc");
    svc::Sha256 moved = std::move(hash);
    CHECK(moved.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(svc::is_sha256_hex(svc::sha256_hex("x")));
    CHECK_FALSE(svc::is_sha256_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"));
}

TEST_CASE("base64 follows RFC 4648") {
    const std::pair<const char*, const char*> known[] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}};
    for (const auto& [bytes, text] : known) {
        CHECK(svc::base64_encode(bytes) == text);
        CHECK(svc::base64_decode(text) == bytes);
    }
    CHECK(svc::base64_decode("Zm9v\nYmFy\n") == "foobar");
    const std::string random = svc::random_bytes(1000);
    CHECK(svc::base64_decode(svc::base64_encode(random)) == random);
    for (const char* bad :
         {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm-v", "Z=g="})
        CHECK_THROWS_AS(svc::base64_decode(bad), svc::Error);
}

TEST_CASE("comparison in constant time compares") {
    CHECK(svc::equal_constant_time("abc", "abc"));
    CHECK_FALSE(svc::equal_constant_time("abc", "abd"));
    CHECK_FALSE(svc::equal_constant_time("abc", "abcd"));
    CHECK(svc::to_hex(std::string_view("\x00\xAB", 2)) == "00ab");
    CHECK(svc::random_bytes(32) != svc::random_bytes(32));
}

// RFC 2202 test case 2, RFC 4231 test case 2.
TEST_CASE("keyed hashes are those of their standards") {
    const std::string data = "what do ya want for nothing?";
    CHECK(svc::to_hex(svc::hmac_sha1("Jefe", data)) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    CHECK(svc::to_hex(svc::hmac_sha256("Jefe", data)) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("base64 of URLs has its own alphabet and no padding") {
    CHECK(svc::base64url_encode("\xfb\xff\xfe") == "-__-");
    CHECK(svc::base64url_encode("a") == "YQ");
    CHECK(svc::base64url_decode("-__-") == "\xfb\xff\xfe");
    CHECK(svc::base64url_decode("YQ") == "a");
    for (const char* bad : {"+//+", "YQ==", "YR", "Y", "Y Q", "a\nbc"}) {
        INFO(bad);
        CHECK_THROWS_AS(svc::base64url_decode(bad), svc::Error);
    }
}
