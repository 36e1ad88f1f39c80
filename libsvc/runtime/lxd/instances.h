#pragma once
// The instances of this service in LXD: looked up, made whole, changed, removed. Holds no state of its own.
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxd/connection.h"
#include "libsvc/runtime/lxd/instance.h"

namespace svc::lxd {

// Thread-safe, but for two calls that change the same instance.
class Instances {
  public:
    Instances(Connection& lxd, const LxdOptions& options);

    std::optional<Instance> find(std::string_view id);
    Instance get(std::string_view id);   // throws not_found
    Instance idle(std::string_view id);  // throws not_found, busy where it runs
    std::vector<Instance> all();

    // Makes it of an image, with its files placed; an unfinished one is removed first.
    void make(const lxc::StoredSpec& stored, const std::vector<PlacedFile>& files,
              const std::string& fingerprint);
    // A stopped one takes over another specification and gets the files placed.
    void change(const lxc::StoredSpec& stored, const std::vector<PlacedFile>& files);
    // Its disk becomes a copy of the image; in between it exists under another name at least.
    void replace_disk(const Instance& old, const std::string& fingerprint);
    void set(std::string_view id, const char* key,
             const std::string& value);  // of the configuration; "": unset
    void start(std::string_view id);
    void stop(std::string_view id, Duration grace);  // forced after `grace`
    void remove(std::string_view id);                // a stopped one; an absent one is fine
    // Ends what an earlier daemon has left undone. Returns those that are whole.
    std::vector<Instance> recover();
    const std::string& pool() const { return pool_; }

  private:
    void make_from(const Json& creation);
    std::uint32_t take_id_base();
    void place(std::string_view id, const PlacedFile& file);

    Connection& lxd_;
    const LxdOptions& options_;
    std::string pool_;
    Guarded<std::vector<std::uint32_t>> taken_;  // ranges of instances that are being made
};

}  // namespace svc::lxd
