#include "libsvc/runtime/lxd/id_bases.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"

namespace svc::lxd {

IdBases::IdBases(std::vector<std::uint32_t> all, std::function<Taken()> ask)
    : all_(std::move(all)), ask_(std::move(ask)) {}

// Those that are being made stay: LXD may not tell of them yet.
void IdBases::ask_again() {
    Taken told = ask_();
    for (const std::string& name : being_made_) told[name] = taken_[name];
    taken_ = std::move(told);
    known_ = true;
}

const std::uint32_t* IdBases::first_free() const {
    std::set<std::uint32_t> used;
    for (const auto& [name, bases] : taken_) used.insert(bases.begin(), bases.end());
    const auto free = std::ranges::find_if(all_, [&](std::uint32_t base) { return !used.contains(base); });
    return free == all_.end() ? nullptr : &*free;
}

std::uint32_t IdBases::take(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (!known_) ask_again();
    const std::uint32_t* free = first_free();
    if (free == nullptr) ask_again(), free = first_free();
    if (free == nullptr)
        throw Error(ErrorCode::exhausted,
                    "no range of user ids is free: give root a larger one in /etc/subuid");
    taken_[name] = {*free};
    being_made_.insert(name);
    return *free;
}

void IdBases::made(const std::string& name) {
    const std::lock_guard lock(mutex_);
    being_made_.erase(name);
}

void IdBases::free(const std::string& name) {
    const std::lock_guard lock(mutex_);
    being_made_.erase(name);
    taken_.erase(name);
}

void IdBases::note(const std::string& name, std::set<std::uint32_t> bases) {
    const std::lock_guard lock(mutex_);
    if (being_made_.contains(name)) return;
    if (bases.empty())
        taken_.erase(name);
    else
        taken_[name] = std::move(bases);
}

void IdBases::forget() {
    const std::lock_guard lock(mutex_);
    known_ = false;
}

}  // namespace svc::lxd
