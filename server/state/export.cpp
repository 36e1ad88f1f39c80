#include "server/state/export.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/runtime/lxc/layout.h"
#include "server/state/backup.h"
#include "server/state/digests.h"
#include "server/state/records.h"
#include "server/state/salvage.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

StoredValues values_now(const StatePaths& paths, const ExportOptions& options) {
    if (options.records) return options.records();
    SqliteConnection connection = SqliteConnection::read_only(paths.database());
    return read_values(connection);
}

bool does_not_run(const Instance& instance) {
    const bool unreadable = instance.status_when_readable != InstanceStatus::unknown;
    const InstanceStatus status = unreadable ? instance.status_when_readable : instance.status;
    return status == InstanceStatus::stopped || status == InstanceStatus::error;
}

constexpr std::string_view scratch_prefix = ".export-";

// What an export that was killed has left holds packages on the disk. No other export runs while the result
// is kept.
FileDescriptor begin_alone(const fs::path& state) {
    FileDescriptor lock = open_file(state, O_RDONLY | O_DIRECTORY);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        throw errno != EWOULDBLOCK
            ? system_error("cannot lock " + state.string(), errno)
            : Error(ErrorCode::conflict, "another export of " + state.string() + " is at work");
    std::vector<fs::path> leftovers;
    for (const auto& entry : fs::directory_iterator(state))
        if (entry.path().filename().native().starts_with(scratch_prefix)) leftovers.push_back(entry.path());
    for (const fs::path& each : leftovers) remove_tree(each);
    return lock;
}

// One thread.
class Export {
  public:
    Export(const StatePaths& paths, const fs::path& file, const ExportOptions& options)
        : paths_(paths),
          options_(options),
          lock_(begin_alone(paths.root())),
          scratch_(paths.root(), std::string(scratch_prefix)),
          backup_(file) {}

    Findings run() {
        // Second names of all packages, before and after the records are read: none that a record of that
        // moment needs can go until it is copied.
        hold_packages();
        const StoredValues values = values_now(paths_, options_);
        hold_packages();
        const Records records(values);
        add_head();
        add_database(values);
        add_files();
        add_packages(records);
        if (options_.runtime == "lxc") add_layers(records);
        Json disks = Json::array();
        if (options_.disks && options_.runtime == "lxc") disks = add_disks(records, values);
        backup_.finish(Json::object({{"format", backup_format}, {"disks", std::move(disks)}}));
        return std::move(findings_);
    }

  private:
    void hold_packages();
    void add_head();
    void add_database(const StoredValues& values);
    void add_files();
    void add_folder(const std::string& name, const std::vector<std::string>& only = {});
    void add_packages(const Records& records);
    void add_layers(const Records& records);
    void add_logs();
    std::string add_disk(const std::string& id, std::uint64_t revision);
    std::uint64_t revision_now(const std::string& id) const;
    // Of a cluster, each machine has a part.
    std::string advice() const { return options_.records ? "another manager may have it: export there" : ""; }
    Json add_disks(const Records& records, const StoredValues& values);
    lxc::GuestIds ids() const { return {read_id_base(paths_).value_or(0), options_.id_count}; }

    const StatePaths& paths_;
    const ExportOptions& options_;
    FileDescriptor lock_;
    TemporaryDirectory scratch_;
    BackupWriter backup_;
    Findings findings_;
};

void Export::hold_packages() {
    for (const fs::path& file : package_files(paths_)) {
        const fs::path held = scratch_.path() / file.filename();
        if (::link(file.c_str(), held.c_str()) != 0 && errno != EEXIST && errno != ENOENT)
            throw system_error("cannot hold a package", errno);
    }
}

void Export::add_head() {
    const Json head = Json::object({{"format", backup_format},
                                    {"program", "svcd " SVC_VERSION},
                                    {"created_at", to_rfc3339(SystemClock().now())},
                                    {"runtime", options_.runtime}});
    backup_.add_text(backup_head, head.dump());
}

void Export::add_database(const StoredValues& values) {
    const fs::path copy = scratch_.path() / "svc.db";
    StoredValues sound = values;
    std::erase_if(sound, [&](const auto& each) {
        const bool oversized = each.second.value.size() > Batch::max_value_bytes;
        if (oversized)
            findings_.error("record " + each.first, "larger than any record; it is not in the backup",
                            "run svcd recover");
        return oversized;
    });
    write_database(copy, sound);
    backup_.add_file("svc.db", copy);
}

// Files that are replaced as a whole, or only grow.
void Export::add_files() {
    if (is_there(paths_.token_secret())) backup_.add_file("tokens.key", paths_.token_secret());
    add_folder("server");
    add_folder("registry");
    for (const char* row : {"events", "audit-events"}) add_folder(row, {"numbers"});
    if (options_.runtime == "simulated") add_folder("simulated/layers");
    if (is_there(paths_.logs())) add_logs();
}

// They go with their instances.
void Export::add_logs() {
    for (const auto& entry : fs::directory_iterator(paths_.logs())) {
        const std::string folder = "logs/" + entry.path().filename().string();
        std::error_code gone;
        for (const auto& log : fs::directory_iterator(entry.path(), gone)) try {
                const std::string name = log.path().filename();
                if (!name.starts_with('.')) backup_.add_file(folder + "/" + name, log.path());
            } catch (const Error& e) {
                if (e.code() != ErrorCode::not_found && e.code() != ErrorCode::conflict) throw;
            }
        if (gone && is_there(entry.path())) throw Error(ErrorCode::internal, folder + ": " + gone.message());
    }
}

void Export::add_folder(const std::string& name, const std::vector<std::string>& only) {
    if (!is_there(paths_.root() / name)) return;
    for (const auto& entry : fs::directory_iterator(paths_.root() / name)) {
        const std::string file = entry.path().filename();
        const bool wanted = only.empty() || std::ranges::find(only, file) != only.end();
        if (wanted && !file.starts_with('.') && entry.is_regular_file())
            backup_.add_file(name + "/" + file, entry.path());
    }
}

void Export::add_packages(const Records& records) {
    for (const auto& [digest, needed_by] : records.blobs) {
        const fs::path held = scratch_.path() / digest;
        if (is_there(held))
            backup_.add_file("blobs/" + digest, held);
        else
            findings_.error("package " + digest, "is missing; it is needed by " + needed_by, advice());
    }
    for (const std::string& digest : records.expected_blobs)
        if (!records.blobs.contains(digest) && is_there(scratch_.path() / digest))
            backup_.add_file("blobs/" + digest, scratch_.path() / digest);
}

void Export::add_layers(const Records& records) {
    const lxc::Layout layout{paths_.runtime("lxc")};
    for (const auto& [name, needed_by] : records.layers) {
        if (!is_there(layout.layer(name) / "layer.json")) {
            findings_.error("layer " + name, "is missing; it is needed by " + needed_by, advice());
            continue;
        }
        backup_.add_file("layers/" + name + "/layer.json", layout.layer(name) / "layer.json");
        backup_.add_tree("layers/" + name + "/rootfs", layout.layer_rootfs(name), ids());
    }
}

// 0: there is none.
std::uint64_t Export::revision_now(const std::string& id) const {
    const StoredValues now = values_now(paths_, options_);
    const auto found = now.find("instances/" + id);
    return found == now.end() ? 0 : found->second.revision;
}

// Why it is not whole: the instance, or a file of it, changed meanwhile, or its guest has left what no
// backup holds. "": it is whole.
std::string Export::add_disk(const std::string& id, std::uint64_t revision) {
    const lxc::Layout layout{paths_.runtime("lxc")};
    try {
        backup_.add_tree("disks/" + id, layout.upper(id), ids());
        if (revision_now(id) == revision) return "";
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unsupported) return e.what();
        if (e.code() != ErrorCode::conflict && revision_now(id) == revision)
            throw Error(e.code(), "disk of instance " + id + ": " + e.what());
    }
    return "it changed meanwhile";
}

// A disk is in the backup only if nothing has changed the instance while it was copied.
Json Export::add_disks(const Records& records, const StoredValues& values) {
    const lxc::Layout layout{paths_.runtime("lxc")};
    Json whole = Json::array();
    for (const auto& [id, instance] : records.instances) {
        const std::string key = "instances/" + id;
        if (!does_not_run(instance) || records.is_claimed(key)) {
            findings_.note("instance " + id, "it runs, or is worked on: its disk is not in the backup");
            continue;
        }
        if (!is_there(layout.upper(id))) continue;
        const std::string reason = add_disk(id, values.find(key)->second.revision);
        if (reason.empty())
            whole.push_back(id);
        else
            findings_.warning("instance " + id, reason + ": its disk is not in the backup", "");
    }
    return whole;
}

}  // namespace

Findings export_state(const StatePaths& paths, const fs::path& file, const ExportOptions& options) {
    if (!options.records && !is_there(paths.database()))
        throw Error(ErrorCode::not_found, paths.root().string() + " is no state directory of svcd");
    if (is_there(paths.recovering()))
        throw Error(ErrorCode::conflict, "svcd recover was interrupted: run svcd recover again");
    if (is_there(file)) throw Error(ErrorCode::conflict, file.string() + " exists already");
    return Export(paths, file, options).run();
}

}  // namespace svc::server::state
