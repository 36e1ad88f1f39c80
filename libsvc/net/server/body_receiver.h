#pragma once
// Internal to this folder: receives the body of one request, into memory or into the sink of an upload.
#include "libsvc/net/server/exchange.h"
#include "libsvc/net/server/pool_task.h"

namespace svc::net {

// What it is given outlives receive().
class BodyReceiver {
  public:
    template <class T>
    using Task = Connection::Task<T>;

    // `in` has the bytes that came after the header, and keeps those that come after the body.
    BodyReceiver(Connection& connection, InputBuffer& in, Exchange& exchange)
        : connection_(connection),
          in_(in),
          x_(exchange),
          transfer_deadline_(connection.share().limits.body_idle_time, connection.share().limits.min_rate) {}
    // Afterwards the body is complete, or x.fault or x.broken is set.
    Task<void> receive();

  private:
    Task<void> receive_buffered();
    Task<void> receive_upload();
    Task<void> feed_sink(std::shared_ptr<BodySink> sink);
    std::uint64_t room_of_body() const;
    Task<bool> receive_more();
    ThreadPool& pool() { return x_.pool(connection_.share()); }
    Task<std::size_t> fill(char* out, std::size_t room);
    std::size_t take_buffered(char* out, std::size_t room);
    Task<void> send_continue();
    void refuse_length();

    Connection& connection_;
    InputBuffer& in_;
    Exchange& x_;
    TransferDeadline transfer_deadline_;
};

}  // namespace svc::net
