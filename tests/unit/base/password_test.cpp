#include "libsvc/base/password.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"

using namespace svc;

TEST_CASE("a password is known again by its hash, another is not") {
    const std::string hash = hash_password("correct horse");
    CHECK(hash.size() == 192);
    CHECK(hash.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(check_password("correct horse", hash));
    CHECK_FALSE(check_password("correct horsf", hash));
    CHECK_FALSE(check_password("", hash));
}

TEST_CASE("each hash has its own salt") {
    CHECK(hash_password("x") != hash_password("x"));
}

// Computed with hashlib.scrypt(b"password", salt=bytes(range(32)), n=16384, r=8, p=1, dklen=64).
TEST_CASE("the hash is scrypt with the agreed parameters") {
    std::string salt;
    for (char c = 0; c < 32; ++c) salt.push_back(c);
    CHECK(check_password("password", to_hex(salt) +
                                         "42fa366219ca6b8997059907a4eb416cf8d911749572dfbcd167084b5807f524"
                                         "dae613657e8a2652b466bc2d6e8ead60900f121e0869014fe16a4d573f1f0441"));
}

TEST_CASE("a broken hash knows no password") {
    std::string hash = hash_password("x");
    CHECK_FALSE(check_password("x", ""));
    CHECK_FALSE(check_password("x", hash.substr(1)));
    hash[100] = 'g';
    CHECK_FALSE(check_password("x", hash));
}
