#pragma once
// Internal to this folder: work that a connection gives to the pool and waits for without holding a thread.
#include <boost/asio/awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>

#include "libsvc/base/thread_pool.h"
#include "libsvc/net/server/io_loop.h"

namespace svc::net {

// Who starts a task must join() it before what `work` refers to goes away.
class PoolTask : public std::enable_shared_from_this<PoolTask> {
  public:
    using Work = std::function<void()>;
    // On the loop's thread. Null when the pool's queue is full.
    static std::shared_ptr<PoolTask> start(ThreadPool& pool, std::shared_ptr<IoLoop> loop, Work work);
    // The same once the queue has room; null when it has none for `body_idle_time`, or the connection is
    // closed.
    static boost::asio::awaitable<std::shared_ptr<PoolTask>> start_when_free(ThreadPool& pool,
                                                                             Connection& connection,
                                                                             Work work);
    // On the loop's thread, once: what `work` threw, or null.
    boost::asio::awaitable<std::exception_ptr> join();

  private:
    void run(const std::shared_ptr<IoLoop>& loop, const Work& work);
    void finish();

    std::exception_ptr error_;
    bool done_ = false;             // touched by the loop's thread alone, as is what follows
    std::function<void()> resume_;  // of the coroutine in join()
};

// Drops the reference on the pool, where the destructor may block; on this thread when the pool is full.
void release_on_pool(ThreadPool& pool, std::shared_ptr<void> object);

}  // namespace svc::net
