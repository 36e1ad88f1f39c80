#pragma once
// Which instance of this machine has which range of user ids. Kept in memory, so that a creation does not
// read all instances of LXD.
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace svc::lxd {

// Thread-safe.
class IdBases {
  public:
    // First ids of ranges, by the name of the instance; also of those that are not of this service.
    using Taken = std::map<std::string, std::set<std::uint32_t>, std::less<>>;

    // `ask`: what LXD says of all instances. It is asked before the first range is taken.
    IdBases(std::vector<std::uint32_t> all, std::function<Taken()> ask);

    // For an instance that is being made: of no other, not even of one that LXD does not know yet. Throws
    // exhausted, and what `ask` throws.
    std::uint32_t take(const std::string& name);
    void made(const std::string& name);  // LXD knows it
    void free(const std::string& name);  // it is gone
    // What LXD says of one that somebody else has made or changed; empty: it is gone.
    void note(const std::string& name, std::set<std::uint32_t> bases);
    void forget();  // changes were missed: LXD is asked again before the next range is taken

  private:
    void ask_again();
    const std::uint32_t* first_free() const;

    const std::vector<std::uint32_t> all_;
    const std::function<Taken()> ask_;
    std::mutex mutex_;  // of all below
    bool known_ = false;
    Taken taken_;
    std::set<std::string> being_made_;
};

}  // namespace svc::lxd
