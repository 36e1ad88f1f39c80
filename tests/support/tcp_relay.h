#pragma once
// Stands between a client and a server on the loopback, and does what networks do: falls silent, breaks,
// loses an answer.
#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/net/client/target.h"

namespace svc::test {

// The functions are for one thread.
class TcpRelay {
  public:
    explicit TcpRelay(Target server);  // a port of the loopback, or a Unix socket
    ~TcpRelay();
    std::string endpoint() const;  // "http://127.0.0.1:1234"
    // What is connected now stays connected, and nothing comes through any more. New connections work.
    void freeze();
    // Ends what is connected now, and each new connection, until mend().
    void cut();
    void mend();
    // Ends a connection when the answer to a request that contains this text comes: to the next one, and then
    // to each `every`th.
    void lose_answers_to(const std::string& text, std::size_t every);
    std::size_t lost() const { return lost_; }  // answers

  private:
    struct Pair {
        FileDescriptor client, server;
        bool frozen = false, losing = false, ended = false;
    };
    void run();
    void accept_one();
    void pass(Pair& pair, bool from_client);
    void wake() const;

    const Target server_;
    FileDescriptor listener_, wake_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;  // of all below, but while waiting
    std::list<Pair> pairs_;
    std::string text_;
    std::size_t every_ = 0, asked_ = 0;
    bool cut_ = false, stopping_ = false;
    std::atomic<std::size_t> lost_{0};
    std::thread thread_;
};

}  // namespace svc::test
