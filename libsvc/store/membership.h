#pragma once
// Who the managers of a cluster are, and which one leads (docs/managers.md).
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

struct Manager {
    std::string id;       // of its state directory
    std::string name;     // "m1"; also the name of its node
    std::string address;  // "10.77.0.11:8445", where other managers reach it
    std::string version;  // of its program
    int schema = 0;       // the newest schema of records that it knows
    // "https://10.77.0.11:8444", where clients and instances reach its API; not those of one machine alone.
    std::vector<std::string> api = {};
    bool operator==(const Manager&) const = default;
};

struct Leader {
    std::string id;          // of the manager
    std::uint64_t term = 0;  // grows with each change of the leader; later terms win
    bool operator==(const Leader&) const = default;
};

// Thread-safe. Reads memory only.
class Membership {
  public:
    virtual ~Membership() = default;
    virtual Manager self() const = 0;
    virtual std::vector<Manager> managers() const = 0;  // the living ones, this one among them; by name
    virtual std::optional<Leader> leader() const = 0;
    // Called by a thread of the implementation after each change, until the returned object ends. Must be
    // quick.
    [[nodiscard]] virtual std::shared_ptr<void> on_change(std::function<void()> listener) = 0;
};

// The living manager of that id or name.
std::optional<Manager> find_manager(const Membership& membership, std::string_view id_or_name);

}  // namespace svc
