#include "server/state/import.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/operations/records.h"
#include "libsvc/runtime/lxc/layout.h"
#include "libsvc/runtime/lxc/network/addresses.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/instance_changes.h"
#include "server/state/backup_reader.h"
#include "server/state/digests.h"
#include "server/state/records.h"
#include "server/state/salvage.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
    return is_there(file) ? read_file(file) : std::string();
}

template <class T>
std::string stored_text(const T& record) {
    return RecordTraits<T>::to_store(record).dump();
}

// One thread.
class Import {
  public:
    Import(const fs::path& file, const fs::path& target, const ImportOptions& options)
        : file_(file),
          target_(fs::absolute(target)),
          options_(options),
          scratch_(parent(), ".svcd-import-") {}

    Findings run() {
        state_ = scratch_.path() / "state";
        make_directories(state_);
        const std::uint32_t base = id_base();
        const Json manifest = BackupReader(file_, state_, {base, options_.id_count}).unpack();
        for (const Json& id : manifest.at("disks").as_array()) take_disk(id.as_string());
        arrange_packages();
        if (manifest.at("runtime") == Json("lxc")) arrange_runtime(base);
        change_records();
        skip_event_numbers();
        publish();
        return std::move(findings_);
    }

  private:
    fs::path parent() const;
    std::uint32_t id_base() const;
    void take_disk(const std::string& id);
    void arrange_packages();
    void arrange_runtime(std::uint32_t base);
    void change_records();
    std::string rename_node(const Records& records, StoredValues& values);
    void change_instance(Instance instance, const Records& records, const std::string& old_node,
                         StoredValues& values);
    void skip_event_numbers();
    void publish();

    const fs::path& file_;
    const fs::path target_;
    const ImportOptions& options_;
    TemporaryDirectory scratch_;
    fs::path state_;
    std::set<std::string> disks_;
    Findings findings_;
};

fs::path Import::parent() const {
    const fs::path clean = target_.has_filename() ? target_ : target_.parent_path();
    if (is_there(clean) && !(fs::is_directory(clean) && fs::is_empty(clean)))
        throw Error(ErrorCode::conflict, clean.string() + " is not empty");
    return clean.parent_path();
}

std::uint32_t Import::id_base() const {
    return options_.id_base != 0
               ? options_.id_base
               : lxc::choose_id_base(text_of("/etc/subuid"), text_of("/etc/subgid"), options_.id_count);
}

// An id becomes the name of a folder: it must lead nowhere else.
void Import::take_disk(const std::string& id) {
    constexpr std::string_view clean = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const bool usable = !id.empty() && id.size() <= 64 && id.find_first_not_of(clean) == std::string::npos;
    if (!usable || !fs::is_directory(fs::symlink_status(state_ / "disks" / id)))
        throw Error(ErrorCode::invalid_argument, "backup: " + quoted(id) + " is no disk of it");
    disks_.insert(id);
}

void Import::arrange_packages() {
    make_directories(state_ / "blobs");
    std::vector<fs::path> packages;
    for (const auto& entry : fs::directory_iterator(state_ / "blobs")) packages.push_back(entry.path());
    for (const fs::path& package : packages) {
        const std::string digest = package.filename();
        if (!is_sha256_hex(digest) || digest_of(package) != digest)
            throw Error(ErrorCode::invalid_argument, "backup: package " + digest + " has other content");
        make_directories(state_ / "blobs" / digest.substr(0, 2));
        fs::rename(package, state_ / "blobs" / digest.substr(0, 2) / digest);
    }
}

// A disk becomes a container without spec.json, which svcd makes of the record of the instance.
void Import::arrange_runtime(std::uint32_t base) {
    const lxc::Layout layout{state_ / "lxc"};
    make_directories(layout.state_dir, 0711);
    make_directories(layout.containers(), 0711);
    if (is_there(state_ / "layers")) fs::rename(state_ / "layers", layout.layers());
    if (is_there(layout.layers()))
        for (const auto& entry : fs::directory_iterator(layout.layers()))
            fs::permissions(entry.path(), static_cast<fs::perms>(0711));
    for (const std::string& id : disks_) {
        make_directories(layout.container(id), 0700);
        make_directories(layout.rootfs(id), 0711);
        fs::permissions(layout.container(id), static_cast<fs::perms>(0700));
        fs::permissions(layout.rootfs(id), static_cast<fs::perms>(0711));
        fs::rename(state_ / "disks" / id, layout.upper(id));
    }
    remove_tree(state_ / "disks");
    write_file_atomically(layout.id_base(), std::to_string(base) + "\n");
}

void Import::change_records() {
    SqliteConnection connection = SqliteConnection::read_only(state_ / "svc.db");
    StoredValues values = read_values(connection);
    const Records records(values);
    const std::string old_node = rename_node(records, values);
    for (const auto& [id, instance] : records.instances) change_instance(instance, records, old_node, values);
    write_database(state_ / "changed" / "svc.db", values);
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(state_ / (std::string("svc.db") + suffix));
    fs::rename(state_ / "changed" / "svc.db", state_ / "svc.db");
    remove_tree(state_ / "changed");
    fs::rename(state_ / "svc.db", state_ / options_.database);
}

// The settings of the one node are those of this machine now.
std::string Import::rename_node(const Records& records, StoredValues& values) {
    make_directories(state_ / "changed");
    if (records.nodes.size() != 1) return "";
    Node node = records.nodes.begin()->second;
    const std::string before = node.name;
    if (before == options_.node_name) return before;
    node.name = options_.node_name;
    values.erase("nodes/" + before);
    values["nodes/" + node.name] = {stored_text(node), 1};
    findings_.note("node " + before, "is " + node.name + " now");
    return before;
}

// No guest runs here, and no address is taken. What an operation has not ended is its to say.
void Import::change_instance(Instance instance, const Records& records, const std::string& old_node,
                             StoredValues& values) {
    const std::string id = instance.id.str();
    if (*instance.node == old_node) instance.node = options_.node_name;
    if (*instance.wanted_node == old_node) instance.wanted_node = options_.node_name;
    const bool left = instance.status == InstanceStatus::deleted || instance.type == InstanceType::base ||
                      records.is_claimed("instances/" + id);
    if (!left) {
        const bool had_disk =
            instance.status != InstanceStatus::created && instance.status != InstanceStatus::prepared;
        const bool lost = had_disk && !disks_.contains(id);
        clear_reservation(instance);
        instance.status = lost ? InstanceStatus::error : InstanceStatus::stopped;
        instance.status_when_readable = InstanceStatus::unknown;
        instance.stop_requested = true;  // so that it is not removed as one that ended by itself
        instance.stopped_at = SystemClock().now();
        instance.error_message =
            lost ? std::string("its disk is not in the backup: a start makes an empty one") : "";
        if (lost)
            findings_.warning("instance " + id, "its disk is not in the backup",
                              "start it with an empty one, or delete it");
    }
    values["instances/" + id] = {stored_text(instance), 1};
}

// Numbers that clients have seen since the backup was made must not come again.
void Import::skip_event_numbers() {
    constexpr std::uint64_t skipped = 1'000'000'000;
    for (const char* row : {"events", "audit-events"}) {
        const fs::path numbers = state_ / row / "numbers";
        const std::string text = text_of(numbers);
        if (text.empty() || text.size() > 18) continue;
        write_file_atomically(numbers, std::to_string(std::strtoull(text.c_str(), nullptr, 10) + skipped));
    }
}

void Import::publish() {
    fs::remove(state_ / "backup.json");
    const FileDescriptor folder = open_file(state_, O_RDONLY | O_DIRECTORY);
    if (::syncfs(folder.get()) != 0) throw system_error("cannot sync the state directory", errno);
    fs::permissions(state_, static_cast<fs::perms>(0711));
    const fs::path clean = target_.has_filename() ? target_ : target_.parent_path();
    if (std::rename(state_.c_str(), clean.c_str()) != 0)
        throw system_error("cannot keep " + clean.filename().string(), errno);
    sync_directory(clean.parent_path());
}

}  // namespace

Findings import_state(const fs::path& file, const fs::path& target, const ImportOptions& options) {
    return Import(file, target, options).run();
}

}  // namespace svc::server::state
