#include "instance-agent/agent/phases/extra_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "instance-agent/agent/phases/owner_lookup.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

namespace fs = std::filesystem;

struct Item {
    std::string name;
    fs::path source;  // ours
    fs::path target;  // as the guest names it
    Owner owner;
    std::optional<unsigned> permissions;
};

bool is_on_sdcard(const fs::path& target) {
    return target.native().starts_with("/sdcard/");
}

unsigned parse_permissions(const std::string& text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    if (error != std::errc() || end != text.data() + text.size() || value > 07777)
        throw Error(ErrorCode::invalid_argument, "permissions " + quoted(text) + " are invalid");
    return value;
}

unsigned file_mode(const Item& item) {
    return item.permissions.value_or(0660);
}

// Permissions of a folder: who may read the file may list the folder. `nested`: below the folder of the
// package.
unsigned directory_mode(const Item& item, bool nested) {
    if (item.permissions) return *item.permissions | (*item.permissions & 0444U) >> 2U;
    if (is_on_sdcard(item.target)) return 0771;
    return nested ? 0770 : 0700;
}

void own(const fs::path& path, const Owner& owner) {
    if (::lchown(path.c_str(), owner.user, owner.group) != 0)
        throw system_error("cannot give away " + quoted(path.filename().native()), errno);
}

void set_mode(const fs::path& path, unsigned mode) {
    if (::chmod(path.c_str(), mode) != 0)
        throw system_error("cannot set permissions of " + quoted(path.filename().native()), errno);
}

void make_owned_directory(const Item& item, const fs::path& path, bool nested) {
    if (::mkdir(path.c_str(), 0700) != 0) {
        if (errno == EEXIST && fs::is_directory(path)) return;
        throw system_error("cannot make directory " + quoted(path.filename().native()), errno);
    }
    own(path, item.owner);
    set_mode(path, directory_mode(item, nested));
}

// `package_depth`: how many parts the name of the package's own folder has ("/data/data/com.x": 3).
void make_parents(const Paths& paths, const Item& item) {
    const auto package_depth = is_on_sdcard(item.target) ? 4 : 3;
    fs::path made = paths.guest;
    int depth = 0;
    for (const fs::path& part : item.target.relative_path()) {
        made /= part;
        ++depth;
        std::error_code error;
        if (fs::is_directory(made, error)) continue;
        if (depth < package_depth)
            make_directories(made, 0755);
        else
            make_owned_directory(item, made, depth > package_depth);
    }
}

void copy_entry(const Item& item, const fs::path& from, const fs::path& to) {
    const fs::file_status status = fs::symlink_status(from);
    if (fs::is_directory(status)) {
        make_owned_directory(item, to, true);
        for (const auto& entry : fs::directory_iterator(from))
            copy_entry(item, entry.path(), to / entry.path().filename());
        return;
    }
    fs::remove(to);
    if (fs::is_symlink(status)) {
        fs::copy_symlink(from, to);
        return own(to, item.owner);
    }
    fs::copy_file(from, to);
    own(to, item.owner);
    set_mode(to, file_mode(item));
}

void check_target(const std::string& name, const fs::path& target) {
    const bool plain = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
    const bool climbs = std::find(target.begin(), target.end(), "..") != target.end();
    if (!plain) throw Error(ErrorCode::invalid_argument, "its name is invalid");
    if (!target.is_absolute() || climbs)
        throw Error(ErrorCode::invalid_argument, "target " + quoted(target.native()) + " is invalid");
}

Item read_item(const PhaseContext& phase, const std::string& name, const JsonFields& fields,
               OwnerLookup& owners) {
    Item item;
    item.name = name;
    item.source = phase.paths.app() / "extra-data" / name;
    item.target = fs::path(fields.require_string("target")).lexically_normal();
    check_target(name, item.target);
    const std::string standard =
        is_on_sdcard(item.target) ? "package_uid:sdcard_rw" : "package_uid:package_gid";
    const std::string owner = fields.string("owner").value_or("");
    item.owner = owners.resolve(owner.empty() ? standard : owner);
    if (const auto text = fields.string("permissions"); text && !text->empty())
        item.permissions = parse_permissions(*text);
    return item;
}

void place(const PhaseContext& phase, const Item& item) {
    if (!fs::exists(fs::symlink_status(item.source)))
        throw Error(ErrorCode::not_found, "the package does not hold it");
    make_parents(phase.paths, item);
    copy_entry(item, item.source, phase.paths.in_guest(item.target) / item.name);
}

}  // namespace

std::vector<std::string> place_extra_data(const PhaseContext& phase) {
    if (!phase.session.app.extra_data.is_object()) return {};
    OwnerLookup owners(phase.paths, phase.session.app.boot_package);
    for (const auto& [name, value] : phase.session.app.extra_data.as_object())
        with_context("extra data " + quoted(name), [&, &name = name, &value = value] {
            try {
                place(phase, read_item(phase, name, JsonFields(value), owners));
            } catch (const fs::filesystem_error& e) {
                throw system_error("cannot be placed", e.code().value());
            }
        });
    return owners.notes();
}

}  // namespace svc::agent
