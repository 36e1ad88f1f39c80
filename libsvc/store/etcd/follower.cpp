#include "libsvc/store/etcd/follower.h"

#include <pthread.h>

#include <algorithm>
#include <stop_token>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/client/streamed_call.h"

namespace svc::etcd {

namespace {

constexpr std::chrono::milliseconds mend_pause{100};

ClientRequest watch_call(const KeyRange& keys, Revision from, std::chrono::milliseconds timeout) {
    ClientRequest request;
    request.method = Method::post;
    request.path = "/v3/watch";
    request.headers.add(wants_leader, "true");
    request.body = watch_request(keys, from).dump();
    request.timeout = timeout;
    return request;
}

// The events of the first revision, which are taken out.
std::vector<WatchEvent> take_revision(std::vector<WatchEvent>& events) {
    const auto end = std::ranges::find_if(
        events, [&](const WatchEvent& event) { return event.revision != events.front().revision; });
    std::vector<WatchEvent> first(std::make_move_iterator(events.begin()), std::make_move_iterator(end));
    events.erase(events.begin(), end);
    return first;
}

}  // namespace

Follower::Follower(Cluster& cluster, const EtcdOptions& options, Clock& clock, Members& members)
    : cluster_(cluster),
      options_(options),
      keys_(options.root),
      clock_(clock),
      members_(members),
      member_(cluster.preferred()) {
    told_ = read_all(cluster_, below(keys_.records()), true, [&](const Entry& entry) {
        known_.emplace_hint(known_.end(), entry.key, entry.revision);
    });
    members_.read();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Follower::~Follower() {
    thread_.request_stop();
    thread_.join();
}

void Follower::check() const {
    std::lock_guard lock(mutex_);
    if (gone_back_)
        throw Error(ErrorCode::unavailable,
                    "etcd has gone back to an earlier state; the service must be started anew");
}

Revision Follower::told() const {
    std::lock_guard lock(mutex_);
    return told_;
}

void Follower::await(Revision revision, Duration patience) {
    std::unique_lock lock(mutex_);
    const bool told = moved_.wait_for(lock, patience, [&] { return told_ >= revision || gone_back_; });
    lock.unlock();
    check();
    if (!told) throw Error(ErrorCode::unavailable, "etcd does not tell what was changed");
}

void Follower::run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "etcd-watch");
    while (!stop.stop_requested()) {
        try {
            follow(stop);
        } catch (const Error& e) {
            if (gone_back_) return;
            log::debug("the watch of etcd is begun again", {{"error", e.what()}});
            ++member_;
            clock_.wait(stop, mend_pause);
        }
    }
}

// Returns when what comes next must be read anew, and was.
void Follower::follow(const std::stop_token& stop) {
    missed_ = 0;
    StreamedCall watch(cluster_.member(member_),
                       watch_call(below(keys_.root()), told_ + 1, options_.attempt));
    const std::stop_callback interrupt(stop, [&] { watch.interrupt(); });
    std::string text;
    for (;;) {
        const auto piece = watch.read(missed_ == 0 ? options_.silence : options_.silence / 4);
        if (!piece) {
            look_behind_silence();
            continue;
        }
        text += *piece;
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            if (!take(text.substr(begin, end - begin))) return;
            begin = end + 1;
        }
        text.erase(0, begin);
    }
}

// False when the watch has ended, and everything was read anew.
bool Follower::take(const std::string& line) {
    WatchMessage message = read_watch_message(line);
    if (message.cancelled && !message.compacted)
        throw Error(ErrorCode::unavailable, "etcd has cancelled the watch");
    if (message.cancelled) return read_anew(), false;
    while (!message.events.empty()) {
        const Revision revision = message.events.front().revision;
        tell(take_revision(message.events), revision);
    }
    return true;
}

// All of one revision, or of all up to it. Keys that are not records only move the revision.
void Follower::tell(std::vector<WatchEvent> events, Revision revision) {
    members_.take(events);
    const std::string records = keys_.records();
    std::erase_if(events, [&](const WatchEvent& event) { return !event.key.starts_with(records); });
    for (WatchEvent& event : events) {
        if (event.value)
            known_.insert_or_assign(event.key, event.revision);
        else
            known_.erase(event.key);
        event.key.erase(0, records.size());
    }
    if (!events.empty()) watches_.notify(events);
    missed_ = 0;
    std::lock_guard lock(mutex_);
    told_ = std::max(told_, revision);
    moved_.notify_all();
}

// An idle etcd is silent, too: what counts is whether something was committed that has not come.
void Follower::look_behind_silence() {
    const Page newest = read_range(cluster_, keys_.newest_batch());
    if (newest.revision < told_) give_up();
    const Revision batch = revision_of_first(newest);
    if (batch <= told_) return;
    if (missed_ != 0) throw Error(ErrorCode::unavailable, "the watch has been silent for too long");
    missed_ = batch;
}

void Follower::give_up() {
    {
        std::lock_guard lock(mutex_);
        gone_back_ = true;
        moved_.notify_all();
    }
    log::error("etcd has gone back to an earlier state; start the service anew");
    check();
}

// etcd does not keep any more what happened since: the difference is told as one change.
void Follower::read_anew() {
    std::vector<WatchEvent> changes;
    auto gone = known_;
    const Revision revision = read_all(cluster_, below(keys_.records()), false, [&](Entry entry) {
        gone.erase(entry.key);
        const auto known = known_.find(entry.key);
        if (known == known_.end() || known->second != entry.revision)
            changes.push_back({std::move(entry.key), std::move(entry.value), entry.revision});
    });
    members_.read();
    std::ranges::sort(changes, {}, &WatchEvent::revision);
    for (const auto& [key, last] : gone) changes.push_back({key, std::nullopt, revision});
    tell(std::move(changes), revision);
}

}  // namespace svc::etcd
