#include "libsvc/cluster/term_guard.h"

#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"

namespace svc {

namespace {

constexpr std::string_view refusal_begin = "a newer leader (term ";

}  // namespace

std::uint64_t stored_term(const std::filesystem::path& file) {
    if (!is_there(file)) return 0;
    const std::string text = read_file(file);
    std::uint64_t term = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), term);
    if (error != std::errc() || end == text.data())
        throw Error(ErrorCode::internal,
                    "the highest term of a leader is damaged: " + file.filename().native());
    return term;
}

// Errors come from a node as code and text.
std::uint64_t term_of_refusal(std::string_view text) {
    std::uint64_t term = 0;
    if (text.starts_with(refusal_begin))
        std::from_chars(text.data() + refusal_begin.size(), text.data() + text.size(), term);
    return term;
}

TermGuard::TermGuard(std::filesystem::path file) : file_(std::move(file)), highest_(stored_term(file_)) {}

std::uint64_t TermGuard::highest() const {
    std::lock_guard lock(mutex_);
    return highest_;
}

std::shared_ptr<void> TermGuard::on_raise(Listener listener) {
    std::lock_guard lock(listeners_mutex_);
    const auto kept = listeners_.insert(listeners_.end(), std::move(listener));
    return {nullptr, [this, kept](void*) {
                std::lock_guard ending(listeners_mutex_);
                listeners_.erase(kept);
            }};
}

void TermGuard::tell(std::uint64_t term) {
    std::lock_guard lock(listeners_mutex_);
    for (const Listener& listener : listeners_) listener(term);
}

void TermGuard::refuse_lower(std::uint64_t term) const {
    if (term < highest_)
        throw Error(ErrorCode::conflict, std::string(refusal_begin) + std::to_string(highest_) +
                                             ") has followed that of term " + std::to_string(term));
}

void TermGuard::raise(std::uint64_t term) {
    {
        std::lock_guard lock(mutex_);
        refuse_lower(term);
        if (term == highest_) return;
        write_file_atomically(file_, std::to_string(term) + "\n");
        highest_ = term;
    }
    left_.notify_all();  // who waits with a lower term is refused
    tell(term);
}

bool TermGuard::older_runs(std::uint64_t term) const {
    return !running_.empty() && running_.begin()->first < term;
}

std::shared_ptr<void> TermGuard::enter(std::uint64_t term) {
    raise(term);
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return term < highest_ || !older_runs(term); });
    refuse_lower(term);
    ++running_[term];
    lock.unlock();
    return {nullptr, [this, term](void*) { leave(term); }};
}

void TermGuard::leave(std::uint64_t term) {
    {
        std::lock_guard lock(mutex_);
        const auto found = running_.find(term);
        if (--found->second == 0) running_.erase(found);
    }
    left_.notify_all();
}

}  // namespace svc
