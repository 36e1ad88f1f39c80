#pragma once
// Internal to this folder: the media of one client that no packet reaches otherwise, between two WebSockets.
// The gateway does not look inside.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/model/streaming/stream_end.h"
#include "libsvc/net/websocket/websocket.h"

namespace svc {

struct MediaLimits {
    std::size_t unread_bytes = 512U << 10;         // of a side; the other one is not read meanwhile
    std::size_t client_message = 256U << 10;       // bytes
    std::size_t waiting_messages = 64;             // of a client whose instance has not come
    std::size_t waiting_bytes = 64U << 10;         // likewise
    Duration instance = std::chrono::seconds(30);  // for the client and the instance to come
};

// Thread-safe. Handlers hold it; calls WebSockets without its lock where they may call back.
class MediaLink : public std::enable_shared_from_this<MediaLink> {
  public:
    MediaLink(const Clock& clock, MediaLimits limits, std::function<void(std::size_t bytes)> relayed);

    std::shared_ptr<WebSocketHandler> client();    // once
    std::shared_ptr<WebSocketHandler> instance();  // throws forbidden: it is there already
    void end(const StreamEnd& end);                // both are closed; the client is told why
    bool is_over() const;
    void tick(SteadyTime now);  // ends what only one side, or none, has come to

  private:
    using Socket = std::shared_ptr<WebSocket>;
    class Side;
    struct Message {
        bool binary = false;
        std::string bytes;
    };
    void opened(bool of_client, const Socket& socket);
    void take(bool of_client, bool binary, std::string bytes);
    void has_read(bool of_client);
    void closed(bool of_client);
    void pass(const Socket& to, const Socket& from, Message message);
    void finish(const StreamEnd& end);  // under the lock

    const MediaLimits limits_;
    const std::function<void(std::size_t)> relayed_;
    const SteadyTime until_;
    mutable std::mutex mutex_;
    Socket client_, instance_;
    std::vector<Message> waiting_;
    std::size_t waiting_bytes_ = 0;
    bool claimed_ = false, over_ = false;
};

}  // namespace svc
