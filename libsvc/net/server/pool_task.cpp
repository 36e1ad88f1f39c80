#include "libsvc/net/server/pool_task.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "libsvc/net/server/connection.h"

namespace svc::net {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds full_pool_pause{20};

}  // namespace

std::shared_ptr<PoolTask> PoolTask::start(ThreadPool& pool, std::shared_ptr<IoLoop> loop, Work work) {
    auto task = std::make_shared<PoolTask>();
    const bool posted =
        pool.post([task, loop = std::move(loop), work = std::move(work)] { task->run(loop, work); });
    return posted ? task : nullptr;
}

asio::awaitable<std::shared_ptr<PoolTask>> PoolTask::start_when_free(ThreadPool& pool, Connection& connection,
                                                                     Work work) {
    const auto deadline = std::chrono::steady_clock::now() + connection.share().limits.body_idle_time;
    for (;;) {
        auto task = start(pool, connection.shared_loop(), work);
        const bool late = std::chrono::steady_clock::now() >= deadline;
        if (task || late || connection.closed()) co_return task;
        co_await connection.sleep(full_pool_pause);
    }
}

void PoolTask::run(const std::shared_ptr<IoLoop>& loop, const Work& work) {
    try {
        work();
    } catch (...) {
        error_ = std::current_exception();
    }
    asio::post(loop->context, [self = shared_from_this()] { self->finish(); });
}

void PoolTask::finish() {
    done_ = true;
    if (resume_) std::exchange(resume_, nullptr)();
}

asio::awaitable<std::exception_ptr> PoolTask::join() {
    if (!done_) {
        const auto initiate = [this](auto handler) {
            // A std::function must be copyable, a coroutine's handler is not.
            auto shared = std::make_shared<decltype(handler)>(std::move(handler));
            resume_ = [shared] { std::move (*shared)(); };
        };
        co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(initiate, asio::use_awaitable);
    }
    co_return error_;
}

void release_on_pool(ThreadPool& pool, std::shared_ptr<void> object) {
    if (object) (void)pool.post([object = std::move(object)] {});
}

}  // namespace svc::net
