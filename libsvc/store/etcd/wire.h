#pragma once
// The JSON of etcd's gateway: requests are made and replies read here, without a connection. Bytes are
// base64, 64-bit numbers are text, and what is zero or false is left out.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/store/store.h"

namespace svc::etcd {

// Readers throw unavailable for what etcd cannot have said.
std::uint64_t number(const Json& object, std::string_view key);  // 0: absent

struct KeyRange {
    std::string begin;
    std::string end;  // "": the key `begin` alone
};
KeyRange below(std::string_view prefix);

struct ReadOptions {
    Revision at = 0;        // 0: the newest, as all members agree on
    std::size_t limit = 0;  // 0: all
    bool keys_only = false;
    bool newest_first = false;
};
Json range_request(const KeyRange& keys, const ReadOptions& options = {});

struct Page {
    std::vector<Entry> entries;
    bool more = false;
    Revision revision = 0;  // of all of etcd, when it was read
};
Page read_page(const Json& reply);

// Puts, removals and reads that etcd does together if every expectation holds; else the reads of
// `if_refused`.
class Transaction {
  public:
    void expect(std::string_view key, Revision revision);
    void expect_none_after(const KeyRange& keys, Revision revision);  // no key of them is newer
    void put(std::string_view key, std::string_view value, std::uint64_t lease = 0);
    void remove(std::string_view key);
    void read(const Json& range);
    void if_refused(const Json& range);
    Json request() const;

  private:
    JsonArray compare_, success_, failure_;
};

struct TransactionReply {
    bool succeeded = false;
    Revision revision = 0;
    std::vector<Page> read;  // by the branch that was taken, in its order
};
TransactionReply read_transaction(const Json& reply);

Json watch_request(const KeyRange& keys, Revision from);
struct WatchMessage {
    std::vector<WatchEvent> events;  // in the order of their revisions
    bool cancelled = false;
    bool compacted = false;  // what was asked for is not kept any more
};
WatchMessage read_watch_message(std::string_view line);

}  // namespace svc::etcd
