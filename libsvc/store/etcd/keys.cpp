#include "libsvc/store/etcd/keys.h"

namespace svc::etcd {

namespace {

constexpr const char* range_path = "/v3/kv/range";
constexpr std::size_t page_entries = 128;  // of at most 1 MiB each

// `at` becomes 0 when etcd has dropped that revision.
Page read_next_page(Cluster& cluster, const KeyRange& keys, bool keys_only, Revision& at) {
    for (;;) {
        Reply reply = cluster.ask(
            range_path, range_request(keys, {.at = at, .limit = page_entries, .keys_only = keys_only}));
        if (reply.refusal == Refusal::none) return read_page(reply.body);
        if (reply.refusal != Refusal::compacted || at == 0) throw_refusal(reply);
        at = 0;
    }
}

}  // namespace

Page read_range(Cluster& cluster, const Json& request) {
    return read_page(cluster.call(range_path, request));
}

Revision read_all(Cluster& cluster, KeyRange keys, bool keys_only, const std::function<void(Entry)>& take) {
    Revision at = 0;
    Revision first = 0;
    for (;;) {
        Page page = read_next_page(cluster, keys, keys_only, at);
        if (at == 0) at = page.revision;
        if (first == 0) first = at;
        for (Entry& entry : page.entries) {
            keys.begin = entry.key + '\0';  // the next one that is possible
            take(std::move(entry));
        }
        if (!page.more) return first;
    }
}

}  // namespace svc::etcd
