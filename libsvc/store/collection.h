#pragma once
// Collection<T>: the only way to records. Keeps every record decoded in memory (written through, followed by
// watch where others write too), unique names as index keys in the same batch as the record.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/store/ordered_records.h"
#include "libsvc/store/store.h"

namespace svc {

// What a collection needs to know of a record type; specialise for each:
//   static constexpr std::string_view noun;           "image", for messages
//   static constexpr std::string_view prefix;         "images/", of its keys
//   static const std::string& id(const T&);
//   static std::string name(const T&);                "" when it has no unique name
//   static std::string_view id_in(std::string_view);  optional: the id in a derived name ("svc-<id>"), else
//                                                     ""; name() never returns a derived name
//   static Json to_store(const T&);                   with a "schema" number
//   static T from_store(const Json&);                 upgrades older schemas
template <class T>
struct RecordTraits;

// A stored record that this program cannot read: damaged, or of a newer version. It stays in the store as it
// is, and its id and names stay taken, until it is removed.
struct UnreadableRecord {
    std::string key;  // "images/0123456789abcdef"
    std::string id;
    std::vector<std::string> names;  // the unique names that lead to it
    std::string reason;
    Revision revision = 0;
};

// Thread-safe. Reads never touch the store. `T` is a plain struct; what is handed out is immutable and
// shared.
template <class T>
class Collection {
  public:
    using Ptr = std::shared_ptr<const T>;
    using Traits = RecordTraits<T>;

    // Called for each change of the records in memory, loading included, with the record before and after;
    // null where there is none. Called with the collection's lock held: must be quick, not throw and not use
    // the collection.
    using Observer = std::function<void(const T* before, const T* after)>;

    // Loads everything. A record that cannot be read is logged and set aside: see unreadable().
    explicit Collection(Store& store, Observer observer = nullptr);

    // Throws not_found "<noun> not found"; internal where the record is there and cannot be read.
    Ptr get(std::string_view id_or_name) const;
    Ptr find(std::string_view id_or_name) const;  // null when absent; ids first, then names
    // A record and its revision. The same revision in one collection object is the same record.
    struct Revised {
        Ptr record;
        Revision revision = 0;
    };
    Revised get_revised(std::string_view id_or_name) const;  // throws as get()
    std::vector<Ptr> list() const;                           // ordered by id
    // Part of the list, and the length of the whole list at that moment. Copies only the records of the part.
    struct Window {
        std::vector<Ptr> records;
        std::size_t total = 0;
    };
    Window window(std::size_t offset, std::size_t limit) const;
    std::size_t size() const;
    std::uint64_t changes() const { return changes_; }  // grows with every change of a record
    // A random number of this object: revisions and changes() say nothing about those of another one, which
    // may be of another manager, or of a store that was restored.
    std::uint64_t origin() const { return origin_; }
    // Ordered by id. These records are in no list, and find() does not find them: whoever removes what no
    // record refers to has to ask here first.
    std::vector<UnreadableRecord> unreadable() const;
    std::optional<UnreadableRecord> find_unreadable(std::string_view id_or_name) const;
    bool all_readable() const;

    // Commits a new record. Throws conflict "<noun> already exists" when id or name is taken.
    // `together` holds further changes of the same commit (an operation's record).
    Ptr create(T record, Batch together = {});
    // create(), or stage_overwrite() where a record of the id is there and cannot be read.
    Ptr put(T record);
    // Reads, applies `change` (pure: may run more than once), commits, retries on conflict. `change` may
    // throw to refuse.
    Ptr update(std::string_view id, const std::function<void(T&)>& change, const Batch& together = {});
    void remove(std::string_view id, const Batch& together = {});  // absent: only `together` is committed

    // For a commit that the caller makes (the operation engine): adds the change to a batch. The
    // collection's memory follows through the store's watch before commit() returns.
    void stage_create(Batch& batch, const T& record) const;
    void stage_update(Batch& batch, std::string_view id, const std::function<void(T&)>& change) const;
    void stage_remove(Batch& batch, std::string_view id) const;  // one that cannot be read as well
    // Writes a record over one of the same id that cannot be read: for whoever was told to set it anew. The
    // unreadable value is kept under "unreadable/<its key>", in pieces where it is large.
    void stage_overwrite(Batch& batch, const T& record) const;

  private:
    using Slot = Revised;
    struct IdOf {
        std::string_view operator()(const Slot& slot) const { return Traits::id(*slot.record); }
    };
    static std::string record_key(std::string_view id);
    static std::string name_key(std::string_view name);
    static void stage_replace(Batch& batch, std::string_view id, const Slot& before, const T& record);
    static void stage_removal(Batch& batch, std::string_view id, const Slot& before);
    static void stage_removal(Batch& batch, const UnreadableRecord& broken);
    void stage_copy(Batch& batch, const UnreadableRecord& broken) const;
    [[noreturn]] static void throw_exists();
    [[noreturn]] void throw_absent(std::string_view id_or_name) const;
    void load(const Entry& entry);
    void set_aside(const Entry& entry, const char* reason);
    void learn_names() const;
    std::optional<Slot> slot(std::string_view id) const;
    Slot require_slot(std::string_view id) const;  // throws not_found
    bool name_is_taken(std::string_view id, const std::string& name) const;
    const Slot* named(std::string_view name) const;
    void drop_name(const T& record, const std::string& kept);
    Ptr committed(std::string_view id, T&& record) const;
    // `record` is what was there, afterwards. False: what is in memory is newer.
    bool replace(std::string_view id, Ptr& record, Revision revision);
    void apply(const std::vector<WatchEvent>& events);

    Store& store_;
    const Observer observer_;
    mutable std::shared_mutex mutex_;
    OrderedRecords<Slot, IdOf> records_;
    std::map<std::string, std::string, std::less<>> ids_by_name_;
    // By id. Their names are read from the store when they are asked for.
    mutable std::map<std::string, UnreadableRecord, std::less<>> unreadable_;
    mutable std::atomic<bool> names_to_learn_{false};
    const std::uint64_t origin_ = random_number();
    std::atomic<std::uint64_t> changes_{0};
    std::unique_ptr<Subscription> watch_;  // last: ends before the maps go
};

}  // namespace svc

#include "libsvc/store/collection_inl.h"
