#include "libsvc/runtime/lxc/host/id_ranges.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr std::uint32_t slot_ids = 65536;

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string link_text(int folder, const std::string& name) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
    return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
}

// Where the container's folder cannot be looked at, the range may be in use.
bool is_stale(const std::string& target) {
    struct stat info {};
    return ::lstat(target.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

std::vector<std::pair<std::uint64_t, std::uint64_t>> ids_of_others(const std::vector<std::string>& accounts,
                                                                   const std::vector<std::string>& ranges) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reserved;
    for (const std::string& text : accounts)
        for (const std::string& line : split(text, '\n')) {
            const std::vector<std::string> fields = split(line, ':');  // name, password, id
            const auto id = fields.size() < 3 ? std::nullopt : number(fields[2]);
            if (id && *id >= slot_ids) reserved.emplace_back(*id, *id);
        }
    for (const std::string& text : ranges)
        for (const std::string& line : split(text, '\n')) {
            const std::vector<std::string> fields = split(trim(line), ':');  // name, first, count
            if (fields.size() != 3 || fields[0] == "root" || fields[0] == "0") continue;
            const auto first = number(fields[1]);
            const auto count = number(fields[2]);
            if (first && count && *count > 0) reserved.emplace_back(*first, *first + *count - 1);
        }
    return reserved;
}

std::optional<std::uint32_t> parse_mapped_root(std::string_view uid_map) {
    for (const std::string& line : split(uid_map, '\n')) {
        std::vector<std::string> fields = split(line, ' ');
        std::erase(fields, "");
        if (fields.size() != 3 || fields[0] != "0") continue;
        if (const auto first = number(fields[1])) return static_cast<std::uint32_t>(*first);
    }
    return std::nullopt;
}

IdRanges::IdRanges(std::filesystem::path registry, std::filesystem::path containers, IdRegion region)
    : registry_(std::move(registry)), containers_(std::move(containers)), region_(std::move(region)) {
    region_.first = (region_.first + slot_ids - 1) / slot_ids * slot_ids;
    if (region_.ranges == 0 && !std::filesystem::exists(registry_)) return;
    const FileDescriptor folder = lock_registry();
    held_.with([&](Held& held) {
        for (const auto& entry : std::filesystem::directory_iterator(registry_)) {
            const std::string name = entry.path().filename().native();
            const std::filesystem::path container = link_text(folder.get(), name);
            if (container.parent_path() != containers_) continue;
            const auto slot = number(name);
            const auto first = static_cast<std::uint32_t>(slot.value_or(0) * slot_ids);
            if (!slot || is_stale(container))
                ::unlinkat(folder.get(), name.c_str(), 0);
            else if (const auto [known, added] = held.by_id.emplace(container.filename().native(), first);
                     !added)
                known->second = std::min(known->second, first);
        }
        for (const auto& [id, first] : held.by_id) held.firsts.insert(first);
    });
}

std::uint32_t IdRanges::take(const std::string& id) {
    return held_.with([&](Held& held) {
        if (const auto known = held.by_id.find(id); known != held.by_id.end()) return known->second;
        if (region_.ranges == 0) return region_.shared;
        const FileDescriptor folder = lock_registry();
        const auto step = static_cast<std::uint32_t>(slots_of(0).size()) * slot_ids;
        for (std::uint32_t n = 0; n < region_.ranges; ++n) {
            const std::uint64_t next = region_.first + std::uint64_t{n} * step;
            if (next + step > UINT32_MAX) break;
            const auto first = static_cast<std::uint32_t>(next);
            if (held.firsts.contains(first) || is_reserved(first) || !claim(folder.get(), first, id))
                continue;
            held.firsts.insert(first);
            return held.by_id[id] = first;
        }
        throw Error(ErrorCode::exhausted,
                    fmt::format("none of the {} ranges of user ids is free", region_.ranges));
    });
}

bool IdRanges::keep(const std::string& id, std::uint32_t first) {
    return held_.with([&](Held& held) {
        const auto known = held.by_id.find(id);
        if (known != held.by_id.end() && known->second == first) return false;
        const FileDescriptor folder = lock_registry();
        if (known != held.by_id.end()) {
            unlink_own(folder.get(), known->second, id);
            held.firsts.erase(known->second);
        }
        if (first != region_.shared && !claim(folder.get(), first, id))
            log::warning("a container runs with the user ids of another one", {{"container", id}});
        held.by_id[id] = first;
        held.firsts.insert(first);
        return true;
    });
}

std::uint32_t IdRanges::first_id(const std::string& id) const {
    return held_.with([&](const Held& held) {
        const auto known = held.by_id.find(id);
        return known == held.by_id.end() ? region_.shared : known->second;
    });
}

void IdRanges::release(const std::string& id) {
    held_.with([&](Held& held) {
        const auto known = held.by_id.find(id);
        if (known == held.by_id.end()) return;
        try {
            unlink_own(lock_registry().get(), known->second, id);
        } catch (const Error& e) {
            log::warning("a range of user ids stays taken", {{"container", id}, {"error", e.what()}});
        }
        held.firsts.erase(known->second);
        held.by_id.erase(known);
    });
}

void IdRanges::tear_down() const {
    if (::rmdir(registry_.c_str()) == 0) ::rmdir(registry_.parent_path().c_str());
}

IdRanges::Slots IdRanges::slots_of(std::uint32_t first) const {
    Slots slots;
    for (std::uint64_t taken = 0; taken < region_.count; taken += slot_ids)
        slots.push_back(first / slot_ids + static_cast<std::uint32_t>(slots.size()));
    return slots;
}

bool IdRanges::is_reserved(std::uint32_t first) const {
    const std::uint64_t last = std::uint64_t{first} + region_.count - 1;
    return std::any_of(region_.reserved.begin(), region_.reserved.end(),
                       [&](const auto& ids) { return ids.first <= last && ids.second >= first; });
}

// The lock lasts as long as the descriptor. Another daemon may have removed the empty folder.
FileDescriptor IdRanges::lock_registry() const {
    for (;;) {
        FileDescriptor folder(::open(registry_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder && errno == ENOENT) {
            make_directories(registry_, 0700);
            continue;
        }
        if (!folder) throw system_error("cannot open the list of user ids", errno);
        // Whoever may open it may lock it for ever.
        if (::fchmod(folder.get(), 0700) != 0) throw system_error("cannot close the list of user ids", errno);
        if (::flock(folder.get(), LOCK_EX) != 0)
            throw system_error("cannot lock the list of user ids", errno);
        struct stat info {};
        if (::fstat(folder.get(), &info) == 0 && info.st_nlink > 0) return folder;
    }
}

bool IdRanges::claim(int folder, std::uint32_t first, const std::string& id) const {
    const std::string container = target(id).native();
    const Slots slots = slots_of(first);
    for (const std::uint32_t slot : slots) {
        const std::string other = link_text(folder, std::to_string(slot));
        if (!other.empty() && other != container && !is_stale(other)) return false;
    }
    for (const std::uint32_t slot : slots) {
        ::unlinkat(folder, std::to_string(slot).c_str(), 0);
        if (::symlinkat(container.c_str(), folder, std::to_string(slot).c_str()) == 0) continue;
        const int number = errno;
        unlink_own(folder, first, id);
        throw system_error("cannot take a range of user ids", number);
    }
    return true;
}

void IdRanges::unlink_own(int folder, std::uint32_t first, const std::string& id) const {
    for (const std::uint32_t slot : slots_of(first))
        if (link_text(folder, std::to_string(slot)) == target(id))
            ::unlinkat(folder, std::to_string(slot).c_str(), 0);
}

}  // namespace svc::lxc
