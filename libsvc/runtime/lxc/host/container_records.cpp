#include "libsvc/runtime/lxc/host/container_records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>

#include <charconv>
#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/host/cgroups.h"

namespace svc::lxc {

namespace {

// Replaces a file by renaming, without syncing: readers see the old or the new content, and after a power
// failure, when nothing runs, the content does not matter.
void replace_file(const std::filesystem::path& path, std::string_view content) {
    const std::filesystem::path temporary = path.native() + ".new";
    write_all(open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600).get(), content);
    failpoint("host.file_written");
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw system_error("cannot replace a file", errno);
}

// "PID TICKS", as svc-lxc writes it.
std::optional<ProcessId> read_process(const std::filesystem::path& file) {
    const auto text = read_if_there(file, 256);
    const std::vector<std::string> parts = split(trim(text.value_or("")), ' ');
    if (parts.size() != 2) return std::nullopt;
    ProcessId process;
    std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), process.pid);
    std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), process.start_ticks);
    return process;
}

StoredSpec parse_spec(const std::string& text) {
    if (text.find_first_not_of('\0') == std::string::npos) throw LostSpecification("spec.json is empty");
    try {
        return with_context("spec.json", [&] { return stored_spec_from_json(Json::parse(text)); });
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unsupported) throw;  // of a newer version
        throw LostSpecification(e.what());
    }
}

}  // namespace

std::optional<StoredSpec> ContainerRecords::read_spec(const std::string& id) const {
    const auto text = read_if_there(layout_.spec(id));
    if (!text) return std::nullopt;
    StoredSpec stored = parse_spec(*text);
    if (stored.spec.id != id)
        throw Error(ErrorCode::internal, "spec.json is of container " + quoted(stored.spec.id));
    return stored;
}

// What was placed is told by the specification; the files are in the container.
void ContainerRecords::recreate_spec(const ContainerSpec& spec, std::uint32_t project) const {
    const std::filesystem::path file = layout_.spec(spec.id);
    StoredSpec stored{spec, project, {"/etc/hostname"}};
    for (const PlacedFile& placed : spec.files) stored.placed.push_back(placed.path);
    const std::filesystem::path kept = file.native() + ".damaged";
    if (is_there(file) && ::rename(file.c_str(), kept.c_str()) != 0)
        throw system_error("cannot keep the damaged spec.json", errno);
    write_file_atomically(file, to_json(stored).dump());
}

// A damaged run.json counts as none: only a power failure damages it, and nothing runs after one.
std::optional<RunRecord> ContainerRecords::read_run(const std::string& id) const {
    const auto text = read_if_there(layout_.run(id));
    if (!text) return std::nullopt;
    try {
        return run_record_from_json(Json::parse(*text));
    } catch (const Error& e) {
        log::warning("run.json of a container is damaged", {{"container", id}, {"error", e.what()}});
        return std::nullopt;
    }
}

std::optional<ProcessId> ContainerRecords::read_agent(const std::string& id) const {
    const auto agent = read_process(layout_.agent_file(id));
    return agent && is_alive(*agent) ? agent : std::nullopt;
}

FileDescriptor ContainerRecords::lock_out_helpers(const std::string& id) const {
    if (!is_there(layout_.lock(id))) return {};
    FileDescriptor lock = open_file(layout_.lock(id), O_RDWR);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (std::chrono::steady_clock::now() > deadline)
            throw Error(ErrorCode::busy,
                        fmt::format("container '{}' or a program in it is being started", id));
        ::poll(nullptr, 0, 5);  // flock() can only wait without a limit of time
    }
    return lock;
}

void ContainerRecords::write_run(const std::string& id, const RunRecord& run) const {
    replace_file(layout_.run(id), to_json(run).dump());
}

std::optional<int> ContainerRecords::read_exit_status(const std::string& id) const {
    const std::string text = read_or_empty(layout_.exit_file(id));
    int status = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), status).ec != std::errc{})
        return std::nullopt;
    return status;
}

ExitCause ContainerRecords::read_exit_cause(const std::string& id) const {
    return describe_exit(read_exit_status(id), parse_oom_kills(read_or_empty(layout_.oom_file(id))));
}

std::string ContainerRecords::start_failure(const std::string& id) const {
    const ExitCause cause = read_exit_cause(id);
    const std::string log = first_lxc_error(read_or_empty(layout_.lxc_log(id)));
    if (log.empty()) return cause.reason;
    // liblxc's log may have only the error of a socket that was closed because init had ended.
    return cause.init_ran ? cause.reason + " (" + log + ")" : log;
}

bool ContainerRecords::monitor_may_run(const std::string& id) const {
    // The abstract socket of the monitor. Where the name is too long for a socket, liblxc uses a hash: not
    // checked.
    const std::string name = fmt::format("@{}/{}/command", layout_.containers().native(), id);
    if (name.size() > 100) return true;
    return read_file("/proc/net/unix", 64U << 20).find(name + "\n") != std::string::npos;
}

}  // namespace svc::lxc
