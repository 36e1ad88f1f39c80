#pragma once
// The instances of this service in LXD: looked up, made whole, changed, removed. Remembers which ranges of
// user ids are taken, and nothing else. In a cluster these are the ones of the member that is spoken to:
// those of others are not found.
#include <optional>
#include <string>
#include <vector>

#include "libsvc/runtime/lxd/connection.h"
#include "libsvc/runtime/lxd/id_bases.h"
#include "libsvc/runtime/lxd/instance.h"

namespace svc::lxd {

// Thread-safe, but for two calls that change the same instance.
class Instances {
  public:
    // `member`: the name of the LXD in its cluster; "" without a cluster.
    Instances(Connection& lxd, const LxdOptions& options, std::string member);

    std::optional<Instance> find(std::string_view id);
    Instance get(std::string_view id);   // throws not_found
    Instance idle(std::string_view id);  // throws not_found, busy where it runs
    std::vector<Instance> all();
    struct Running {
        Instance instance;
        Json state;  // LXD's: network, disk
    };
    std::vector<Running> running();
    std::vector<Instance> all_of_cluster();  // of other members, too: layers are shared

    // Makes it of an image, with its files placed. Leaves nothing when it fails.
    void make(const lxc::StoredSpec& stored, const std::vector<PlacedFile>& files,
              const std::string& fingerprint);
    // A stopped one takes over another specification and gets the files placed.
    void change(const lxc::StoredSpec& stored, const std::vector<PlacedFile>& files);
    // Its disk becomes a copy of the image; in between it exists under another name at least.
    void replace_disk(const Instance& old, const std::string& fingerprint);
    void set(std::string_view id, const char* key,
             const std::string& value);  // of the configuration; "": unset
    void start(const Instance& instance);
    void stop(std::string_view id, Duration grace);     // forced after `grace`
    void set_frozen(std::string_view id, bool frozen);  // of a running one that is not so already
    void remove(std::string_view id);                   // a stopped one; an absent one is fine
    // Somebody may have made, changed or removed this one; "": events were missed.
    void note_change(const std::string& name);
    // Ends what an earlier daemon has left undone. Returns those that are whole.
    std::vector<Instance> recover();
    const std::string& pool() const { return pool_; }
    const std::string& member() const { return member_; }

  private:
    std::vector<Instance> parse(const Json& records) const;
    bool is_own(const std::string& location) const { return member_.empty() || location == member_; }
    bool take_address(const Instance& instance);
    void make_from(const Json& creation);
    IdBases::Taken bases_of_machine();
    void place(std::string_view id, const PlacedFile& file);

    Connection& lxd_;
    const LxdOptions& options_;
    const std::string member_;
    std::string pool_;
    IdBases bases_;
};

}  // namespace svc::lxd
