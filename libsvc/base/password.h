#pragma once
// Passwords as scrypt hashes: N=16384, r=8, p=1, 64 bytes, 32 bytes of salt. A stored hash is the hexadecimal
// text of salt and hash, 192 characters. Any thread; slow on purpose.
#include <string>
#include <string_view>

namespace svc {

std::string hash_password(std::string_view password);  // a new salt each time
bool check_password(std::string_view password,
                    std::string_view stored_hash);  // constant time; false for a malformed hash

}  // namespace svc
