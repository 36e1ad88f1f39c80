#include "libsvc/net/server/server.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <optional>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/server/acceptor.h"
#include "libsvc/net/server/connection.h"
#include "libsvc/net/server/http_session.h"

namespace svc {

namespace asio = boost::asio;
using net::Connection;
using net::IoLoop;

namespace {

constexpr std::chrono::minutes warning_pause{1};

// A socket file that we have made. Removed only while the path still leads to it.
struct SocketFile {
    std::filesystem::path path;
    ino_t inode = 0;

    explicit SocketFile(std::filesystem::path where) : path(std::move(where)) {
        struct stat info {};
        if (lstat(path.c_str(), &info) == 0) inode = info.st_ino;
    }
    void remove() const {
        struct stat info {};
        if (lstat(path.c_str(), &info) == 0 && info.st_ino == inode) unlink(path.c_str());
    }
};

// An I/O thread with its event loop.
class LoopThread {
  public:
    explicit LoopThread(unsigned number)
        : loop_(std::make_shared<IoLoop>()), work_(loop_->context.get_executor()), thread_([this, number] {
              pthread_setname_np(pthread_self(), ("net-io-" + std::to_string(number)).c_str());
              run();
          }) {}
    ~LoopThread() { stop(); }
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;
    const std::shared_ptr<IoLoop>& loop() const { return loop_; }

    void stop() {
        loop_->context.stop();
        if (thread_.joinable()) thread_.join();
    }

    // On the I/O thread, for each connection there.
    void for_each(std::function<void(Connection&)> what) {
        asio::post(loop_->context, [loop = loop_.get(), what = std::move(what)] {
            std::vector<std::shared_ptr<Connection>> all;  // some end, and leave the map, while we walk
            for (const auto& [id, connection] : loop->connections)
                all.push_back(connection->shared_from_this());
            for (const auto& connection : all) what(*connection);
        });
    }

    void end(std::vector<std::uint64_t> ids, std::string reason) {
        asio::post(loop_->context, [loop = loop_.get(), ids = std::move(ids), reason = std::move(reason)] {
            for (const auto id : ids) {
                const auto found = loop->connections.find(id);
                if (found == loop->connections.end()) continue;
                const auto connection = found->second->shared_from_this();
                connection->end(CloseCode::policy, reason, true);
            }
        });
    }

  private:
    void run() {
        while (!loop_->context.stopped()) {
            try {
                loop_->context.run();
            } catch (const std::exception& e) {
                log::error("connection failed", {{"error", e.what()}});
            }
        }
    }

    std::shared_ptr<IoLoop> loop_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::jthread thread_;
};

}  // namespace

class HttpServer::Implementation {
  public:
    Implementation(HttpService& service, ThreadPool& pool, const ServerLimits& limits, unsigned io_threads)
        : share_(std::make_shared<net::ServerShare>(service, pool, limits)), io_threads_(io_threads) {}

    void add(FileDescriptor socket, Peer prototype, std::shared_ptr<TlsContext> tls, ListenerLimits limits) {
        auto listener =
            std::make_shared<const net::Listener>(net::Listener{std::move(tls), std::move(limits)});
        acceptor_.add(
            std::move(socket), std::move(prototype),
            [this, listener = std::move(listener)](FileDescriptor fd, std::shared_ptr<const Peer> peer) {
                take(std::move(fd), std::move(peer), listener);
            });
    }

    void accept_only(std::function<bool(const Peer&)> peers) { admitted_ = std::move(peers); }

    void add_file(const std::filesystem::path& path) { files_.emplace_back(path); }

    void start() {
        std::signal(SIGPIPE, SIG_IGN);  // TLS writes cannot say MSG_NOSIGNAL
        for (unsigned i = 0; i < io_threads_; ++i) threads_.push_back(std::make_unique<LoopThread>(i));
        acceptor_.start();
    }

    void stop(std::chrono::milliseconds grace) {
        if (share_->stopping.exchange(true)) return;
        acceptor_.stop();
        for (const auto& file : files_) file.remove();
        for (const auto& thread : threads_)
            thread->for_each(
                [](Connection& c) { c.end(CloseCode::going_away, "server is stopping", false); });
        if (!share_->limiter.wait_until_none(grace)) {
            for (const auto& thread : threads_) thread->for_each([](Connection& c) { c.abort(); });
            while (!share_->limiter.wait_until_none(std::chrono::hours(1))) continue;
        }
        for (const auto& thread : threads_) thread->stop();  // kept: disconnect() may still look at them
    }

    void disconnect(const std::function<bool(const Peer&)>& matches, std::string_view reason) {
        for (const auto& thread : threads_) {
            const auto peers = thread->loop()->peers.with([](const auto& all) { return all; });
            std::vector<std::uint64_t> ids;
            for (const auto& [id, peer] : peers)
                if (matches(*peer)) ids.push_back(id);
            if (!ids.empty()) thread->end(std::move(ids), std::string(reason));
        }
    }

    std::size_t connections() const { return share_->limiter.taken(); }

  private:
    // On the acceptor's thread.
    void take(FileDescriptor fd, std::shared_ptr<const Peer> peer,
              const std::shared_ptr<const net::Listener>& listener) {
        if (admitted_ && !admitted_(*peer)) return;
        auto slot = share_->limiter.acquire(listener->limits, *peer);
        if (!slot) return note_refused(*peer);
        const auto& loop = threads_[next_thread_++ % threads_.size()]->loop();
        // What is posted must be copyable.
        auto parts = std::make_shared<std::pair<FileDescriptor, std::unique_ptr<net::ConnectionSlot>>>(
            std::move(fd), std::move(slot));
        asio::post(loop->context, [share = share_, loop, parts, peer = std::move(peer), listener] {
            if (auto connection = make_connection(loop, share, *parts, peer, *listener))
                asio::co_spawn(loop->context, net::HttpSession::serve(std::move(connection), listener),
                               asio::detached);
        });
    }

    static std::shared_ptr<Connection> make_connection(
        const std::shared_ptr<IoLoop>& loop, const std::shared_ptr<net::ServerShare>& share,
        std::pair<FileDescriptor, std::unique_ptr<net::ConnectionSlot>>& parts,
        std::shared_ptr<const Peer> peer, const net::Listener& listener) {
        try {
            return std::make_shared<Connection>(loop, share, std::move(parts.second), std::move(parts.first),
                                                std::move(peer), listener.tls.get());
        } catch (const std::exception& e) {
            log::debug("connection failed", {{"error", e.what()}});
            return nullptr;
        }
    }

    void note_refused(const Peer& peer) {
        const auto now = std::chrono::steady_clock::now();
        if (warned_ && now - *warned_ < warning_pause) return;
        warned_ = now;
        log::warning("too many connections: some are closed at once",
                     {{"listener", peer.listener},
                      {"peer", peer.transport == Transport::unix_socket ? "uid=" + std::to_string(peer.uid)
                                                                        : peer.address}});
    }

    std::shared_ptr<net::ServerShare> share_;
    unsigned io_threads_;
    std::function<bool(const Peer&)> admitted_;
    std::vector<std::unique_ptr<LoopThread>> threads_;
    std::size_t next_thread_ = 0;
    std::optional<std::chrono::steady_clock::time_point> warned_;  // when it last logged a refused connection
    std::vector<SocketFile> files_;
    net::Acceptor acceptor_;
};

HttpServer::HttpServer(HttpService& service, ThreadPool& pool, ServerLimits limits, unsigned io_threads)
    : implementation_(std::make_unique<Implementation>(service, pool, limits, io_threads)) {}

HttpServer::~HttpServer() {
    stop(std::chrono::milliseconds(0));
}

void HttpServer::listen_unix(const std::string& name, const std::filesystem::path& path, unsigned mode,
                             int group, ListenerLimits limits) {
    Peer prototype;
    prototype.transport = Transport::unix_socket;
    prototype.listener = name;
    implementation_->add(net::bind_unix(path, mode, group), std::move(prototype), nullptr, std::move(limits));
    implementation_->add_file(path);
}

std::string HttpServer::listen_tcp(const std::string& name, const std::string& address,
                                   std::shared_ptr<TlsContext> tls, ListenerLimits limits) {
    FileDescriptor socket = net::bind_tcp(address);
    std::string real = net::local_address(socket.get());
    Peer prototype;
    prototype.transport = tls ? Transport::https : Transport::http;
    prototype.listener = name;
    implementation_->add(std::move(socket), std::move(prototype), std::move(tls), std::move(limits));
    return real;
}

void HttpServer::accept_only(std::function<bool(const Peer&)> peers) {
    implementation_->accept_only(std::move(peers));
}

void HttpServer::start() {
    implementation_->start();
}

void HttpServer::stop(std::chrono::milliseconds grace) {
    implementation_->stop(grace);
}

void HttpServer::disconnect(const std::function<bool(const Peer&)>& matches, std::string_view reason) {
    implementation_->disconnect(matches, reason);
}

std::size_t HttpServer::connections() const {
    return implementation_->connections();
}

}  // namespace svc
