#pragma once
// The store: small documents under keys, changed in batches that hold all or nothing, with compare-and-set.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

using Revision = std::uint64_t;  // grows with every commit; 0 means "the key does not exist"

struct Entry {
    std::string key;
    std::string value;
    Revision revision = 0;  // of the commit that wrote it
};

// Changes that are committed together, applied in the order they were added. Throws invalid_argument for an
// empty key, a NUL in a key and a value that is too large, so that every Store refuses the same things.
class Batch {
  public:
    static constexpr std::size_t max_value_bytes = std::size_t{1} << 20;
    struct Expectation {
        std::string key;
        Revision revision;
    };
    struct Change {
        std::string key;
        std::optional<std::string> value;  // nothing: remove
    };
    Batch& expect(std::string key, Revision revision);  // 0: must not exist
    Batch& put(std::string key, std::string value);     // at most 1 MiB
    Batch& remove(std::string key);                     // absent is fine
    Batch& append(Batch other);
    bool empty() const { return expectations_.empty() && changes_.empty(); }
    const std::vector<Expectation>& expectations() const { return expectations_; }
    const std::vector<Change>& changes() const { return changes_; }

  private:
    std::vector<Expectation> expectations_;
    std::vector<Change> changes_;
};

// Ends the watch when destroyed; no call is running or will be made after that. May be destroyed from within
// its own call, which then is the last one. May outlive the store.
class Subscription {
  public:
    virtual ~Subscription() = default;
};

struct WatchEvent {
    std::string key;
    std::optional<std::string> value;  // nothing: removed
    Revision revision = 0;
};

// Thread-safe. Keys are UTF-8 without NUL, listed in byte order.
class Store {
  public:
    virtual ~Store() = default;
    virtual std::optional<Entry> get(std::string_view key) = 0;
    virtual std::vector<Entry> list(std::string_view prefix) = 0;
    // The same, one at a time: for what is too much to be held twice. `take` must not use the store; what it
    // throws ends the reading.
    virtual void scan(std::string_view prefix, const std::function<void(Entry)>& take);
    // Returns when the batch is on disk. Throws conflict when an expectation does not hold (nothing was
    // changed), exhausted when the disk is full, unavailable when the store cannot be reached. A batch
    // without changes writes nothing: it checks the expectations and returns the newest revision.
    virtual Revision commit(const Batch& batch) = 0;
    // Calls `on_change` after each commit that touches the prefix, in commit order, from a thread of the
    // store, and before commit() returns (or throws a conflict with it) to whoever made it. The function must
    // be quick, must not throw and must not commit.
    using OnChange = std::function<void(const std::vector<WatchEvent>&)>;
    virtual std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) = 0;
};

}  // namespace svc
