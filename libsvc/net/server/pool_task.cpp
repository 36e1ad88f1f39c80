#include "libsvc/net/server/pool_task.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace svc::net {

namespace asio = boost::asio;

std::shared_ptr<PoolTask> PoolTask::start(ThreadPool& pool, std::shared_ptr<IoLoop> loop, Work work) {
    auto task = std::make_shared<PoolTask>();
    const bool posted =
        pool.post([task, loop = std::move(loop), work = std::move(work)] { task->run(loop, work); });
    return posted ? task : nullptr;
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
