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

ReservedIds ids_of_others(const std::vector<std::string>& accounts, const std::vector<std::string>& ranges) {
    ReservedIds reserved;
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

std::optional<IdRange> parse_mapped_root(std::string_view uid_map) {
    for (const std::string& line : split(uid_map, '\n')) {
        std::vector<std::string> fields = split(line, ' ');
        std::erase(fields, "");
        if (fields.size() != 3 || fields[0] != "0") continue;
        const auto first = number(fields[1]);
        const auto count = number(fields[2]);
        if (first && count)
            return IdRange{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*count)};
    }
    return std::nullopt;
}

IdRanges::IdRanges(std::filesystem::path registry, std::filesystem::path containers, IdRegion region)
    : registry_(std::move(registry)), containers_(std::move(containers)), region_(std::move(region)) {
    region_.first = (region_.first + slot_ids - 1) / slot_ids * slot_ids;
    if (region_.ranges == 0 && !std::filesystem::exists(registry_)) return;
    const FileDescriptor folder = lock_registry();
    held_.with([&](Held& held) {
        std::map<std::string, std::set<std::uint64_t>> slots;
        for (const auto& entry : std::filesystem::directory_iterator(registry_)) {
            const std::string name = entry.path().filename().native();
            const std::filesystem::path container = link_text(folder.get(), name);
            if (container.parent_path() != containers_) continue;
            const auto slot = number(name);
            if (!slot || is_stale(container))
                ::unlinkat(folder.get(), name.c_str(), 0);
            else
                slots[container.filename().native()].insert(*slot);
        }
        for (const auto& [id, taken] : slots) {
            const auto first = static_cast<std::uint32_t>(*taken.begin() * slot_ids);
            held.by_id[id] = {first, static_cast<std::uint32_t>(taken.size()) * slot_ids};
            held.firsts.insert(first);
        }
    });
}

std::uint32_t IdRanges::take(const std::string& id) {
    return held_.with([&](Held& held) {
        if (const auto known = held.by_id.find(id); known != held.by_id.end()) return known->second.first;
        if (region_.ranges == 0) return region_.shared;
        const FileDescriptor folder = lock_registry();
        const auto step = static_cast<std::uint32_t>(slots_of({0, region_.count}).size()) * slot_ids;
        for (std::uint32_t n = 0; n < region_.ranges; ++n) {
            const std::uint64_t next = region_.first + std::uint64_t{n} * step;
            if (next + step > UINT32_MAX) break;
            const IdRange range{static_cast<std::uint32_t>(next), region_.count};
            if (!overlaps(range, region_.reserved) && hold(held, folder.get(), range, id)) return range.first;
        }
        throw Error(ErrorCode::exhausted,
                    fmt::format("none of the {} ranges of user ids is free", region_.ranges));
    });
}

std::uint32_t IdRanges::take_of(const std::vector<IdRange>& places, const std::string& id) {
    return held_.with([&](Held& held) {
        const auto known = held.by_id.find(id);
        const bool has_one =
            known != held.by_id.end() && std::ranges::find(places, known->second) != places.end();
        if (has_one) return known->second.first;
        const FileDescriptor folder = lock_registry();
        drop(held, folder.get(), id);
        for (const IdRange& place : places)
            if (hold(held, folder.get(), place, id)) return place.first;
        throw Error(ErrorCode::exhausted, fmt::format("none of the {} is free", places.size()));
    });
}

bool IdRanges::keep(const std::string& id, IdRange range) {
    return held_.with([&](Held& held) {
        const auto known = held.by_id.find(id);
        if (known != held.by_id.end() && known->second.first == range.first) return false;
        const FileDescriptor folder = lock_registry();
        drop(held, folder.get(), id);
        if (range.first != region_.shared && !claim(folder.get(), range, id))
            log::warning("a container runs with the user ids of another one", {{"container", id}});
        held.by_id[id] = range;
        held.firsts.insert(range.first);
        return true;
    });
}

std::uint32_t IdRanges::first_id(const std::string& id) const {
    return held_.with([&](const Held& held) {
        const auto known = held.by_id.find(id);
        return known == held.by_id.end() ? region_.shared : known->second.first;
    });
}

void IdRanges::release(const std::string& id) {
    held_.with([&](Held& held) {
        if (!held.by_id.contains(id)) return;
        try {
            drop(held, lock_registry().get(), id);
        } catch (const Error& e) {
            log::warning("a range of user ids stays taken", {{"container", id}, {"error", e.what()}});
            drop(held, -1, id);
        }
    });
}

void IdRanges::tear_down() const {
    if (::rmdir(registry_.c_str()) == 0) ::rmdir(registry_.parent_path().c_str());
}

IdRanges::Slots IdRanges::slots_of(IdRange range) {
    Slots slots;
    for (std::uint64_t taken = 0; taken < range.count; taken += slot_ids)
        slots.push_back(range.first / slot_ids + static_cast<std::uint32_t>(slots.size()));
    return slots;
}

bool overlaps(IdRange range, const ReservedIds& reserved) {
    const std::uint64_t last = std::uint64_t{range.first} + range.count - 1;
    return std::ranges::any_of(
        reserved, [&](const auto& ids) { return ids.first <= last && ids.second >= range.first; });
}

// False: somebody else has it.
bool IdRanges::hold(Held& held, int folder, IdRange range, const std::string& id) const {
    if (held.firsts.contains(range.first) || !claim(folder, range, id)) return false;
    held.firsts.insert(range.first);
    held.by_id[id] = range;
    return true;
}

// Does nothing for a container without a range. `folder` -1: the links stay.
void IdRanges::drop(Held& held, int folder, const std::string& id) const {
    const auto known = held.by_id.find(id);
    if (known == held.by_id.end()) return;
    if (folder >= 0) unlink_own(folder, known->second, id);
    held.firsts.erase(known->second.first);
    held.by_id.erase(known);
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

bool IdRanges::claim(int folder, IdRange range, const std::string& id) const {
    const std::string container = target(id).native();
    const Slots slots = slots_of(range);
    for (const std::uint32_t slot : slots) {
        const std::string other = link_text(folder, std::to_string(slot));
        if (!other.empty() && other != container && !is_stale(other)) return false;
    }
    for (const std::uint32_t slot : slots) {
        ::unlinkat(folder, std::to_string(slot).c_str(), 0);
        if (::symlinkat(container.c_str(), folder, std::to_string(slot).c_str()) == 0) continue;
        const int number = errno;
        unlink_own(folder, range, id);
        throw system_error("cannot take a range of user ids", number);
    }
    return true;
}

void IdRanges::unlink_own(int folder, IdRange range, const std::string& id) const {
    for (const std::uint32_t slot : slots_of(range))
        if (link_text(folder, std::to_string(slot)) == target(id))
            ::unlinkat(folder, std::to_string(slot).c_str(), 0);
}

}  // namespace svc::lxc
