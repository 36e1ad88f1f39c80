#pragma once
// The socket of a program that draws the display: packets in, packets out, none of which waits.
#include <deque>
#include <string>
#include <string_view>

#include "instance-agent/streamer/guest_display/display_session.h"
#include "instance-agent/streamer/threads/wake.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

// The bytes of a message of libsvcguest/display_wire.h.
template <class Message>
std::string packet_of(const Message& message) {
    return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

// One thread.
class DisplayConnection {
  public:
    static constexpr std::size_t most_waiting = 1024;  // packets that the program has not read

    explicit DisplayConnection(FileDescriptor socket);

    // Takes what has come, a bounded number of packets. Gives the last frame that they present, if any.
    // Throws Error when the program is at fault; unavailable: it has gone.
    std::shared_ptr<const RawFrame> read();
    // Throws Error when too many packets wait; unavailable: the program has gone.
    void send(std::string packet);
    void give_back();                      // tells the program of buffers whose frames are gone
    void refuse(std::string_view reason);  // the last packet, if there is room for it

    int fd() const { return socket_.get(); }
    short events() const;                                   // of fd(), to poll for
    int returns_fd() const { return returns_->wake.fd(); }  // readable when give_back() has work
    bool greeted() const { return session_.greeted(); }

  private:
    struct Returns {  // frames in pipelines may be let go of when the connection is gone
        Guarded<std::vector<BufferTurn>> turns;
        Wake wake;
    };
    void flush();

    FileDescriptor socket_;
    std::shared_ptr<Returns> returns_ = std::make_shared<Returns>();
    DisplaySession session_;
    std::deque<std::string> waiting_;
};

}  // namespace svc::streamer
