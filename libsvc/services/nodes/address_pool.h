#pragma once
// The addresses of one node's bridge.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

// One thread. The addresses of the network, of broadcasts and of the gateway are never taken. The cost of
// take() does not grow with the number of addresses in use.
class AddressPool {
  public:
    explicit AddressPool(
        std::string_view subnet);  // "192.168.100.1/20": the gateway and the prefix; throws invalid_argument
    std::optional<std::string> take();            // the lowest free one
    bool take_exactly(std::string_view address);  // false: taken, reserved or of another network
    void give_back(std::string_view address);     // free addresses are ignored
    std::uint64_t free() const { return free_; }

  private:
    std::optional<std::uint32_t> index_of(std::string_view address) const;
    bool is_taken(std::uint32_t index) const;
    void mark(std::uint32_t index, bool taken);

    std::uint32_t network_ = 0;
    std::uint32_t size_ = 0;    // addresses of the network, all of them
    std::uint32_t lowest_ = 0;  // all below are taken
    std::uint64_t free_ = 0;
    std::vector<std::uint64_t> words_;  // a bit per address, set when taken; grows with the highest one taken
};

}  // namespace svc
