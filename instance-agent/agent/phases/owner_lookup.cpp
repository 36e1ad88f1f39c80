#include "instance-agent/agent/phases/owner_lookup.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "libsvc/base/file.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr unsigned max_id = 65535;  // the highest id that is mapped into an instance

std::optional<unsigned> number_of(const std::string& text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > max_id) return std::nullopt;
    return value;
}

// Names and ids of a file like /etc/passwd or /etc/group: the id is the third field in both.
std::map<std::string, unsigned> read_names(const std::filesystem::path& file) {
    std::map<std::string, unsigned> names;
    try {
        for (const std::string& line : split(read_file(file), '\n')) {
            const std::vector<std::string> fields = split(line, ':');
            const auto number = fields.size() > 2 ? number_of(fields[2]) : std::nullopt;
            if (number) names.emplace(fields[0], *number);
        }
    } catch (const Error&) {
        return {};  // a guest without that file
    }
    return names;
}

}  // namespace

OwnerLookup::OwnerLookup(const Paths& paths, std::string boot_package)
    : paths_(paths),
      boot_package_(std::move(boot_package)),
      users_(read_names(paths.in_guest("/etc/passwd"))),
      groups_(read_names(paths.in_guest("/etc/group"))) {
    struct stat data {};
    const auto folder = paths.in_guest("/data/data") / boot_package_;
    if (boot_package_.empty() || ::stat(folder.c_str(), &data) != 0) return;
    users_.insert_or_assign("package_uid", data.st_uid);
    groups_.insert_or_assign("package_gid", data.st_gid);
}

unsigned OwnerLookup::find(const std::string& name, bool group) {
    if (const auto number = number_of(name)) return *number;
    const auto& names = group ? groups_ : users_;
    if (const auto known = names.find(name); known != names.end()) return known->second;
    std::string note =
        std::string("extra data belongs to root: the guest has no ") + (group ? "group " : "user ") + name;
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(std::move(note));
    return 0;
}

Owner OwnerLookup::resolve(const std::string& text) {
    const std::vector<std::string> parts = split(text, ':');
    if (parts.empty() || parts.size() > 2 || parts[0].empty() || parts.back().empty())
        throw Error(ErrorCode::invalid_argument, "owner " + quoted(text) + " is invalid");
    const uid_t user = find(parts[0], false);
    return {user, parts.size() == 2 ? find(parts[1], true) : user};
}

}  // namespace svc::agent
