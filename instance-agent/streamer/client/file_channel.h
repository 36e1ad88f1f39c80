#pragma once
// The client's channel `svc:files` (docs/exchange.md): files go into a folder of the guest, and come out of
// it.
#include <thread>

#include "instance-agent/streamer/client/permissions.h"
#include "instance-agent/streamer/files/download_folder.h"
#include "instance-agent/streamer/peer/peer.h"
#include "instance-agent/streamer/threads/event_queue.h"

namespace svc::streamer {

// Used on the queue's thread alone; the disk is used on a thread of its own, as the owner of the folder.
// Messages of the client never make it throw. One file at a time goes in each direction.
class FileChannel {
  public:
    static constexpr std::size_t chunk = 16U << 10;        // bytes of a message to the client
    static constexpr std::size_t max_buffered = 1U << 20;  // bytes in the channel of the peer
    static constexpr std::size_t max_in_hand = 4U << 20;   // bytes of clients that wait for the disk
    static constexpr std::size_t max_asked = 4096;         // messages of clients that wait for the disk
    static constexpr std::size_t ack_every = 256U << 10;   // bytes of the client
    static constexpr std::chrono::milliseconds buffer_check{20};
    using FindPeer = std::function<Peer*()>;  // null: no client

    // `folder` "": the guest has none.
    FileChannel(EventQueue& queue, FindPeer peer, const std::filesystem::path& folder, Clock& clock);
    ~FileChannel();
    FileChannel(const FileChannel&) = delete;
    FileChannel& operator=(const FileChannel&) = delete;

    bool exists() const { return exists_; }
    void allow(const Permissions& permissions);
    void opened();
    void closed();
    void control_lost();  // ends what is on its way, and tells the client, which only watches from now on
    void take(bool binary, const std::string& data);

  private:
    // Counts what goes in and out: a client may use its own id again while the disk still works for the one
    // before.
    using Turn = std::uint64_t;
    static constexpr Turn listing_turn = 0;  // of no file
    struct Incoming {
        Turn turn = 0;
        std::int64_t id = 0;
        std::uint64_t size = 0, received = 0, written = 0, acked = 0;
        bool finishing = false;  // all of it is on the disk
    };
    struct Outgoing {
        Turn turn = 0;
        std::int64_t id = 0;
        std::uint64_t left = 0;
        std::shared_ptr<OpenFile> file{};  // null: not open yet
    };

    void take_message(const JsonFields& message);
    void put(const JsonFields& message);
    void take_bytes(const std::string& data);
    void written(Turn turn, std::size_t bytes);
    void cancel(std::int64_t id);
    void drop_incoming();
    void list();
    void get(const JsonFields& message);
    void send_next();
    void send_chunk(Turn turn, const std::string& data);
    void fail(std::int64_t id, const std::string& why);
    void tell(const Json& message);
    void tell_allowed();
    // Does `work` on the disk's thread; `work` returns what the queue does with its result. An error of it is
    // the end of the file of this turn. `bytes`: that it holds.
    void on_disk(Turn turn, std::function<EventQueue::Work()> work, std::size_t bytes = 0);
    Upload& upload(Turn turn);
    void give_up(Turn turn, const std::string& why);
    void drop(Turn turn);

    EventQueue& queue_;
    FindPeer peer_;
    const bool exists_;
    Permissions permissions_;
    bool open_ = false, listing_ = false;
    unsigned client_ = 0;  // counts clients: results for an earlier one are dropped
    Turn last_turn_ = 0;
    std::size_t asked_ = 0, in_hand_ = 0;  // requests and bytes that wait for the disk, of all clients
    std::optional<Incoming> incoming_;
    std::optional<Outgoing> outgoing_;
    DownloadFolder folder_;
    std::unique_ptr<Upload> upload_;  // these two are used on the disk's thread alone
    Turn upload_turn_ = 0;
    EventQueue disk_queue_;
    std::jthread disk_;  // last: uses the others
};

}  // namespace svc::streamer
