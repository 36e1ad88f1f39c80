#pragma once
// Follows everything below the root by one watch, tells it to the watches of the store, and mends the watch:
// docs/store-etcd.md, "Watch".
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/store/etcd/keys.h"
#include "libsvc/store/etcd/members.h"
#include "libsvc/store/watch_list.h"

namespace svc::etcd {

// Thread-safe.
class Follower {
  public:
    // Reads where etcd is now, and follows from there.
    Follower(Cluster& cluster, const EtcdOptions& options, Clock& clock, Members& members);
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    WatchList& watches() { return watches_; }
    // Returns when everything up to the revision was told. Throws unavailable when that takes longer than
    // `patience`, and as check() does.
    void await(Revision revision, Duration patience);
    Revision told() const;
    void check() const;  // throws unavailable when etcd has gone back to an earlier state
    bool is_this_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  private:
    void run(const std::stop_token& stop);
    void follow(const std::stop_token& stop);
    bool take(const std::string& line);
    void tell(std::vector<WatchEvent> events, Revision revision);
    void look_behind_silence();
    void read_anew();
    void give_up();

    Cluster& cluster_;
    const EtcdOptions options_;
    const Keys keys_;
    Clock& clock_;
    Members& members_;
    WatchList watches_;
    // The constructor's, then the thread's.
    std::map<std::string, Revision, std::less<>> known_;
    std::size_t member_;
    Revision missed_ = 0;  // a batch that was not told when the watch was silent; 0: none
    mutable std::mutex mutex_;
    std::condition_variable moved_;
    Revision told_ = 0;
    bool gone_back_ = false;
    std::jthread thread_;
};

}  // namespace svc::etcd
