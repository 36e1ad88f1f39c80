#include "libsvc/store/etcd/members.h"

#include <algorithm>
#include <tuple>

#include "libsvc/store/etcd/members_json.h"

namespace svc::etcd {

Members::Members(Cluster& cluster, const EtcdOptions& options, Counters& counters)
    : cluster_(cluster), keys_(options.root), counters_(counters), self_{options.manager,
                                                                         options.host,
                                                                         "",
                                                                         options.version,
                                                                         options.schema,
                                                                         {}} {}

Manager Members::self() const {
    std::lock_guard lock(mutex_);
    return self_;
}

void Members::set_addresses(std::string address, std::vector<std::string> api) {
    std::lock_guard lock(mutex_);
    self_.address = std::move(address);
    self_.api = std::move(api);
}

std::vector<Manager> Members::managers() const {
    std::lock_guard lock(mutex_);
    std::vector<Manager> all = view_.managers;
    all.push_back(self_);
    std::ranges::sort(all, {}, [](const Manager& each) { return std::tie(each.name, each.id); });
    return all;
}

std::optional<Leader> Members::leader() const {
    std::lock_guard lock(mutex_);
    return view_.leader;
}

Lead Members::lead() const {
    std::lock_guard lock(mutex_);
    return view_.lead;
}

RecordsSchema Members::schema() const {
    std::lock_guard lock(mutex_);
    return view_.schema;
}

std::shared_ptr<void> Members::on_change(std::function<void()> listener) {
    return listeners_.add("", [listener = std::move(listener)](const auto&) { listener(); });
}

bool Members::is_mine(std::string_view key) const {
    return key == keys_.manager() || key == keys_.owner() || key == keys_.schema() ||
           key.starts_with(keys_.managers());
}

void Members::read() {
    Transaction transaction;
    transaction.read(range_request(below(keys_.manager())));
    transaction.read(range_request({keys_.owner(), ""}));
    transaction.read(range_request({keys_.schema(), ""}));
    const auto reply = read_transaction(cluster_.call(transaction_path, transaction.request()));
    Entries entries;
    for (const Page& page : reply.read)
        for (const Entry& entry : page.entries)
            if (is_mine(entry.key)) entries.insert_or_assign(entry.key, entry);
    std::lock_guard order(changing_);
    if (reply.revision < seen_) return;
    seen_ = reply.revision;
    show(entries);
}

void Members::take(const std::vector<WatchEvent>& events) {
    if (std::ranges::none_of(events, [this](const WatchEvent& event) { return is_mine(event.key); })) return;
    std::lock_guard order(changing_);
    Entries entries = entries_;
    for (const WatchEvent& event : events) {
        if (event.revision <= seen_ || !is_mine(event.key)) continue;
        entries.erase(event.key);
        if (event.value) entries.insert_or_assign(event.key, Entry{event.key, *event.value, event.revision});
    }
    seen_ = std::max(seen_, events.back().revision);
    show(entries);
}

// Under `changing_`.
void Members::show(const Entries& entries) {
    const auto same = [](const auto& a, const auto& b) {
        return a.first == b.first && a.second.revision == b.second.revision;
    };
    if (std::ranges::equal(entries, entries_, same)) return;
    entries_ = entries;
    View view = viewed(entries);
    {
        std::lock_guard lock(mutex_);
        if (view.lead.term != view_.lead.term) ++counters_.leader_changes;
        view_ = std::move(view);
    }
    listeners_.notify({{"", std::nullopt, seen_}});
}

Members::View Members::viewed(const Entries& entries) const {
    View view;
    for (const auto& [key, entry] : entries) {
        if (key == keys_.manager())
            read_holder(entry, view.lead);
        else if (key == keys_.owner())
            read_owner(entry, view.lead);
        else if (key == keys_.schema())
            read_schema(entry, view.schema);
        else if (const auto manager = read_manager(entry.value); manager && manager->id != self_.id) {
            view.managers.push_back(*manager);
            view.lead.heard = std::max(view.lead.heard, read_term(entry.value));
        }
    }
    const Lead& lead = view.lead;
    if (!lead.holder.empty() && lead.holder == lead.owner) view.leader = Leader{lead.holder, lead.term};
    view.schema.seen = seen_;
    const auto older = std::ranges::find_if(view.managers, [&](const Manager& manager) {
        return manager.schema < self_.schema && manager.schema >= view.schema.raised;
    });
    if (older != view.managers.end()) view.schema.older = *older;
    return view;
}

}  // namespace svc::etcd
