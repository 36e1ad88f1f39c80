#pragma once
// SHA-256, hexadecimal and base64, comparison in constant time.
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace svc {

// One thread.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    void update(std::string_view data);
    std::string hex();  // ends the computation: 64 lower-case digits

  private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view data);
bool is_sha256_hex(std::string_view text) noexcept;
std::string to_hex(std::string_view bytes);
std::string base64_encode(std::string_view bytes);
std::string base64_decode(std::string_view text);  // throws invalid_argument
bool equal_constant_time(std::string_view a, std::string_view b) noexcept;
std::string random_bytes(std::size_t count);

}  // namespace svc
