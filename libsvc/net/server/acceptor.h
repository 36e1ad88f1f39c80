#pragma once
// Internal to this folder: the thread that accepts the connections of all listening sockets. It is none of
// the I/O threads, because accepting starves on a busy one.
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/socket/bind.h"

namespace svc::net {

class Acceptor {
  public:
    // Called with each new connection, on the acceptor's thread.
    using Taker = std::function<void(FileDescriptor socket, std::shared_ptr<const Peer> peer)>;

    ~Acceptor() { stop(); }
    // Before start(). `prototype` has what all peers of this socket have in common.
    void add(FileDescriptor socket, Peer prototype, Taker taker);
    void start();
    void stop();  // joins

  private:
    struct Socket {
        Socket(boost::asio::io_context& context, int fd, Peer prototype, Taker taker)
            : descriptor(context, fd),
              pause(context),
              prototype(std::move(prototype)),
              taker(std::move(taker)) {}
        boost::asio::posix::stream_descriptor descriptor;
        boost::asio::steady_timer pause;
        Peer prototype;
        Taker taker;
    };
    void wait(Socket& socket);
    void accept(Socket& socket);
    void rest(Socket& socket);

    boost::asio::io_context context_{1};
    std::vector<std::unique_ptr<Socket>> sockets_;
    std::optional<std::chrono::steady_clock::time_point>
        warned_;  // when it last logged that it cannot accept
    std::jthread thread_;
};

}  // namespace svc::net
