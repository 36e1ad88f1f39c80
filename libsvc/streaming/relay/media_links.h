#pragma once
// Internal to this folder: the media links of all sessions, by session and client.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "libsvc/streaming/relay/media_link.h"

namespace svc {

struct MediaCounts {
    std::size_t open = 0;
    std::uint64_t bytes = 0;  // relayed so far
};

// Thread-safe.
class MediaLinks {
  public:
    explicit MediaLinks(const Clock& clock) : clock_(clock) {}
    // Throws unavailable: there are too many, of the session or of all.
    std::shared_ptr<MediaLink> open(const std::string& session, const std::string& client);
    std::shared_ptr<MediaLink> get(const std::string& session,
                                   const std::string& client);  // throws not_found
    void end(const std::string& session, const StreamEnd& end);
    void end_all(const StreamEnd& end);
    void tick();
    MediaCounts counts() const;

  private:
    static constexpr std::size_t most = 4096, most_of_session = 10;
    std::size_t count_of(const std::string& session) const;
    const Clock& clock_;
    const std::shared_ptr<std::atomic<std::uint64_t>> bytes_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<MediaLink>> links_;
};

}  // namespace svc
