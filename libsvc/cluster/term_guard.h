#pragma once
// Refuses the calls of leaders that have been followed by another one (docs/managers.md, "Terms").
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace svc {

// The highest term in the file of a TermGuard; 0: there is none yet. Throws internal where it is damaged.
std::uint64_t stored_term(const std::filesystem::path& file);

// The highest term that a guard had when it refused a call with this text; 0: it is the text of something
// else.
std::uint64_t term_of_refusal(std::string_view text);

// Thread-safe. The highest term is kept in a file, synced before the first call of it begins, so that a
// restart does not forget it.
class TermGuard {
  public:
    // `file`: in the state directory. Throws internal where it is damaged.
    explicit TermGuard(std::filesystem::path file);

    // A call that may change something runs while the returned value exists. Waits for the running calls of
    // lower terms, so that whoever leads now sees their whole effect. Throws conflict "a newer leader ..."
    // for a lower term than the highest.
    [[nodiscard]] std::shared_ptr<void> enter(std::uint64_t term);
    // For the manager that leads: its own node follows its term, too.
    void raise(std::uint64_t term);
    std::uint64_t highest() const;
    // Called with a new highest term, before enter() waits, until the returned object ends (which waits for a
    // call): ends the calls of lower ones. The guard outlives that object.
    using Listener = std::function<void(std::uint64_t term)>;
    [[nodiscard]] std::shared_ptr<void> on_raise(Listener listener);

  private:
    void tell(std::uint64_t term);
    void refuse_lower(std::uint64_t term) const;
    void leave(std::uint64_t term);
    bool older_runs(std::uint64_t term) const;

    const std::filesystem::path file_;
    mutable std::mutex mutex_;
    std::condition_variable left_;
    std::uint64_t highest_ = 0;
    std::map<std::uint64_t, unsigned> running_;  // calls by term
    std::mutex listeners_mutex_;                 // held during their calls
    std::list<Listener> listeners_;
};

}  // namespace svc
