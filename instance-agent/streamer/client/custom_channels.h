#pragma once
// A Unix stream socket for each custom data channel of the client: programs of the guest connect to it and
// exchange bytes with the page.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libsvc/base/file.h"

namespace svc::streamer {

// Thread-safe. A socket webrtc_data_<channel> exists while the channel is open. Bytes of the client go to
// every connection; a connection with `max_unsent` unread bytes is closed. Bytes that come before the first
// connection are kept for it, up to `max_backlog`.
class CustomChannels {
  public:
    static constexpr std::size_t chunk = 16U << 10;  // bytes read at once: one message
    static constexpr std::size_t max_unsent = 1U << 20, max_backlog = 64U << 10;
    // Per channel: bytes passed to `from_guest` and not yet confirmed by taken().
    static constexpr std::size_t max_in_hand = 256U << 10;
    static constexpr std::size_t max_connections = 32;  // of a channel
    // Called on a thread of its own.
    using FromGuest = std::function<void(const std::string& channel, std::string data)>;

    CustomChannels(std::filesystem::path directory, FromGuest from_guest);
    ~CustomChannels();
    CustomChannels(const CustomChannels&) = delete;
    CustomChannels& operator=(const CustomChannels&) = delete;

    void open(const std::string& channel);  // throws invalid_argument (bad name), conflict, busy
    void close(const std::string& channel);
    void close_all();
    void to_guest(const std::string& channel, std::string_view data);
    // Confirms bytes that `from_guest` got: they were sent, so reading goes on.
    void taken(const std::string& channel, std::size_t bytes);

  private:
    struct Connection {
        FileDescriptor socket;
        std::string unsent;
    };
    struct Channel {
        std::filesystem::path path;
        FileDescriptor listener;
        std::vector<Connection> connections;
        std::string backlog;
        std::size_t in_hand = 0;
        bool had_connection = false;
    };
    struct Ready;
    struct Message;

    void run(const std::stop_token& stop);
    std::vector<Ready> wait();
    std::vector<Message> serve(const std::vector<Ready>& ready);
    void accept(Channel& channel);
    void wake();

    const std::filesystem::path directory_;
    FromGuest from_guest_;
    FileDescriptor wake_;
    std::mutex mutex_;
    std::map<std::string, Channel> channels_;
    std::jthread thread_;  // last member: the thread uses the others
};

// [A-Za-z0-9_-]{1,32}, not `control`.
bool is_channel_name(std::string_view name);

}  // namespace svc::streamer
