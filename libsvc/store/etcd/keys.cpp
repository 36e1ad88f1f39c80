#include "libsvc/store/etcd/keys.h"

#include <algorithm>

namespace svc::etcd {

namespace {

constexpr const char* range_path = "/v3/kv/range";
// For each page etcd looks at all keys that are left of the range, so pages of small entries have many.
constexpr std::size_t smallest_page = 128;  // entries, of at most 1 MiB each
constexpr std::size_t largest_page = 1024;
constexpr std::size_t largest_page_of_keys = 8192;
constexpr std::size_t page_bytes = std::size_t{4} << 20;

// By the entries of the page before.
std::size_t size_after(const Page& page, bool keys_only) {
    std::size_t bytes = 1;
    for (const Entry& entry : page.entries) bytes += entry.key.size() + entry.value.size();
    return std::clamp(page_bytes * page.entries.size() / bytes, smallest_page,
                      keys_only ? largest_page_of_keys : largest_page);
}

// `at` becomes 0 when etcd has dropped that revision.
Page read_next_page(Cluster& cluster, const KeyRange& keys, std::size_t entries, bool keys_only,
                    Revision& at) {
    for (;;) {
        Reply reply = cluster.ask(range_path,
                                  range_request(keys, {.at = at, .limit = entries, .keys_only = keys_only}));
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
    std::size_t entries = smallest_page;
    for (;;) {
        Page page = read_next_page(cluster, keys, entries, keys_only, at);
        entries = size_after(page, keys_only);
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
