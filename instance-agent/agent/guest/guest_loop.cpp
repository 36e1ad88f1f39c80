#include "instance-agent/agent/guest/guest_loop.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "instance-agent/agent/files/socket_folder.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/socket/bind.h"

namespace svc::agent {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::uint64_t listener_id = 0, waker_id = 1, first_session_id = 16;
constexpr unsigned guest_socket_mode = 0666;  // every user may connect; ops that control check the peer
constexpr int accepts_per_turn = 64;
constexpr int messages_per_turn = 64;
constexpr std::size_t reserved_sessions = 32;  // kept free for peers that may control
constexpr auto accept_pause = 100ms;           // pause in accepting when descriptors run out

void watch(int epoll, int operation, int fd, std::uint64_t id, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    if (epoll_ctl(epoll, operation, fd, &event) != 0) throw system_error("cannot watch a socket", errno);
}

std::uint64_t inode_of(const std::filesystem::path& file) {
    struct stat info {};
    return lstat(file.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

GuestLoop::GuestLoop(GuestServerOptions options, std::vector<GuestFeature> features)
    : options_(std::move(options)),
      share_(std::make_shared<GuestShare>(options_)),
      protocol_(std::move(features)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      listener_(net::bind_unix(options_.socket, guest_socket_mode, -1)),
      next_id_(first_session_id) {
    if (!epoll_) throw system_error("cannot make an epoll descriptor", errno);
    give_to_user(options_.socket);
    socket_file_ = inode_of(options_.socket);
    watch(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), listener_id, EPOLLIN);
    watch(epoll_.get(), EPOLL_CTL_ADD, share_->wake_descriptor(), waker_id, EPOLLIN);
}

GuestLoop::~GuestLoop() {
    while (!sessions_.empty()) end(Session(sessions_.begin()->second), false);
    if (inode_of(options_.socket) == socket_file_) unlink(options_.socket.c_str());
}

void GuestLoop::stop() {
    stopping_ = true;
    share_->wake(waker_id);
}

void GuestLoop::broadcast(const Json& event) {
    const auto all = greeted_.with([](const auto& sessions) { return sessions; });
    if (all.empty()) return;
    const Json* name = event.find("event");
    const std::string text = event.dump();
    for (const auto& [id, session] : all)
        session->send_event_text(name != nullptr ? name->as_string() : "", text);
}

std::size_t GuestLoop::sessions() const {
    return count_;
}

void GuestLoop::run() {
    std::array<epoll_event, 64> events;
    while (!stopping_) {
        const int count =
            epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), next_timeout());
        for (int i = 0; i < count && !stopping_; ++i) handle(events.at(static_cast<std::size_t>(i)));
        end_silent();
    }
}

void GuestLoop::handle(const epoll_event& event) {
    const std::uint64_t source = event.data.u64;  // copied because the struct is packed
    if (source == listener_id) return accept_some();
    if (source == waker_id) {
        for (const std::uint64_t id : share_->take_woken())
            if (const auto found = sessions_.find(id); found != sessions_.end())
                handle_session(Session(found->second), EPOLLOUT);
        return;
    }
    const auto found = sessions_.find(source);
    if (found != sessions_.end()) handle_session(Session(found->second), event.events);
}

void GuestLoop::accept_some() {
    for (int i = 0; i < accepts_per_turn; ++i) {
        FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (!socket && errno == EAGAIN) return;
        if (!socket) return rest_accepting();
        try {
            admit(std::move(socket));
        } catch (const std::exception& e) {
            log::debug("guest not admitted", {{"error", e.what()}});
        }
    }
}

// Out of descriptors or memory: stops accepting for a moment. New connections wait in the backlog.
void GuestLoop::rest_accepting() {
    accepting_ = false;
    accept_again_ = Steady::now() + accept_pause;
    watch(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), listener_id, 0);
}

// Sessions of users without control rights leave room for peers that have them.
bool GuestLoop::is_welcome(const GuestPeer& peer) const {
    if (peer.may_control) return sessions_.size() < options_.max_sessions;
    const auto found = by_user_.find(peer.uid);
    const std::size_t own = found != by_user_.end() ? found->second : 0;
    return own < options_.max_sessions_per_user &&
           sessions_.size() + reserved_sessions < options_.max_sessions;
}

void GuestLoop::admit(FileDescriptor socket) {
    const GuestPeer peer = read_peer(socket.get());
    if (!is_welcome(peer)) return share_->refused.add();
    const std::uint64_t id = next_id_++;
    const auto session = std::make_shared<GuestConnection>(share_, options_, std::move(socket), id, peer);
    session->interest = EPOLLIN;
    watch(epoll_.get(), EPOLL_CTL_ADD, session->descriptor(), id, session->interest);
    sessions_.emplace(id, session);
    ++by_user_[peer.uid];
    count_ = sessions_.size();
    share_->sessions.set(static_cast<std::int64_t>(sessions_.size()));
    share_->sessions_total.add();
}

void GuestLoop::handle_session(const Session& session, std::uint32_t events) {
    bool alive = true;
    const bool readable = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
    if (readable && !session->waits_for_room) alive = session->receive();
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 && session->waits_for_room) alive = false;
    if (!alive) return end(session, false);
    try {
        if (!converse(session)) return end(session, true);
        settle(session);
    } catch (const std::exception& e) {
        log::debug("guest connection closed",
                   {{"session", std::to_string(session->id())}, {"error", e.what()}});
        end(session, true);
    }
}

// Handles the messages that have come, as long as the client reads its answers. False: the client broke the
// protocol.
bool GuestLoop::converse(const Session& session) {
    for (int i = 0; i < messages_per_turn && !session->is_clogged(); ++i) {
        const auto message = session->next_message();
        if (!message) {
            session->waits_for_room = false;
            return session->flush();
        }
        share_->messages.add();
        if (!reply(session, *message)) return false;
    }
    if (!session->flush()) return false;
    session->waits_for_room = true;  // also when it only has used up its turn
    return true;
}

bool GuestLoop::reply(const Session& session, const GuestMessage& message) {
    const std::uint64_t mark = session->mark();
    GuestProtocol::Reply reply = protocol_.take(session, session->greeted, message);
    if (reply.greeted) {
        session->greeted = true;
        greeted_.with([&](auto& all) { all.emplace(session->id(), session); });
    }
    if (reply.answer) session->answer(reply.answer->members, std::move(reply.answer->descriptor), mark);
    if (reply.close) (void)session->flush();
    return !reply.close;
}

// Sets the events that epoll watches for this session, or wakes the loop for another turn.
void GuestLoop::settle(const Session& session) {
    if (session->waits_for_room && !session->is_clogged()) share_->wake(session->id());
    std::uint32_t interest = session->waits_for_room ? 0U : EPOLLIN;
    if (session->has_output()) interest |= EPOLLOUT;
    set_interest(session, interest);
}

void GuestLoop::set_interest(const Session& session, std::uint32_t interest) {
    if (session->interest == interest) return;
    session->interest = interest;
    watch(epoll_.get(), EPOLL_CTL_MOD, session->descriptor(), session->id(), interest);
}

void GuestLoop::end(const Session& session, bool at_fault) {
    if (at_fault) share_->refused.add();
    sessions_.erase(session->id());
    const auto user = by_user_.find(session->uid());
    if (--user->second == 0) by_user_.erase(user);
    count_ = sessions_.size();
    share_->sessions.set(static_cast<std::int64_t>(sessions_.size()));
    session->close();
    if (!session->greeted) return;
    greeted_.with([&](auto& all) { all.erase(session->id()); });
    protocol_.ended(session);
}

// Ends sessions that have not said hello in time, and accepts again after a pause.
void GuestLoop::end_silent() {
    const Instant now = Steady::now();
    if (!accepting_ && now >= accept_again_) {
        accepting_ = true;
        watch(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), listener_id, EPOLLIN);
    }
    std::vector<Session> late;
    for (const auto& [id, session] : sessions_)
        if (!session->greeted && session->hello_deadline <= now) late.push_back(session);
    for (const Session& session : late) end(session, true);
}

int GuestLoop::next_timeout() const {
    Instant next = accepting_ ? Instant::max() : accept_again_;
    for (const auto& [id, session] : sessions_)
        if (!session->greeted) next = std::min(next, session->hello_deadline);
    if (next == Instant::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Steady::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
}

}  // namespace svc::agent
