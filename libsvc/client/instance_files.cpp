#include "libsvc/client/instance_files.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <exception>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/agent_command.h"

namespace svc {

namespace {

constexpr std::size_t max_list_bytes = 512U << 20;
constexpr std::size_t max_known_bytes = 32U << 20;  // half of what the other end takes

void send_nothing(RemoteExec& session) {
    session.end_input();
}

std::string last_name(const std::filesystem::path& path) {
    const std::filesystem::path clean = path.lexically_normal();
    const std::string name = clean.has_filename() ? clean.filename() : clean.parent_path().filename();
    if (name.empty() || name == "." || name == "..")
        throw Error(ErrorCode::invalid_argument, quoted(path.string()) + " has no name of its own");
    return name;
}

// Nothing: it is not there.
std::vector<TreeFile> list_if_there(ApiClient& client, std::string_view instance, const std::string& path,
                                    TreeDepth depth) try {
    return list_instance_files(client, instance, path, depth);
} catch (const Error& e) {
    if (e.code() != ErrorCode::not_found) throw;
    return {};
}

std::string place_in_instance(ApiClient& client, std::string_view instance,
                              const std::filesystem::path& source, const std::string& target) {
    const bool into = target.ends_with('/');
    const bool folder =
        !list_if_there(client, instance, target + "/.", TreeDepth::itself).empty();  // a link to one, too
    if (into && !folder) throw Error(ErrorCode::not_found, "folder " + quoted(target) + " is not there");
    return folder ? target + (into ? "" : "/") + last_name(source) : target;
}

std::filesystem::path place_here(const std::string& source, const std::filesystem::path& target) {
    const bool folder = std::filesystem::is_directory(target);
    if (!folder && !target.has_filename())
        throw Error(ErrorCode::not_found, "folder " + quoted(target.string()) + " is not there");
    return folder ? target / last_name(source) : target;
}

std::uint64_t bytes_in(const std::vector<TreeFile>& files, const KnownFiles& known) {
    std::uint64_t bytes = 0;
    for (const TreeFile& file : files) {
        const auto found = known.find(file.path);
        if (found == known.end() || found->second != std::pair(file.size, file.modified)) bytes += file.size;
    }
    return bytes;
}

// The lines that `svc-agent files send` reads.
void send_known(RemoteExec& session, const std::vector<TreeFile>& files) {
    std::string lines;
    for (const TreeFile& file : files) {
        if (file.type == "file") lines += known_line(file);
        if (lines.size() > max_known_bytes) break;  // the others are sent again
    }
    session.send_input(lines);
    session.end_input();
}

// Two ends of one stream.
std::array<FileDescriptor, 2> make_stream() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw system_error("cannot make a stream", errno);
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

std::vector<TreeFile> list_instance_files(ApiClient& client, std::string_view instance,
                                          const std::string& path, TreeDepth depth) {
    std::string text;
    AgentCommand command;
    command.words = {"files", to_text(depth), path};
    command.input = send_nothing;
    command.output = [&](std::string_view data) {
        if (text.size() + data.size() > max_list_bytes)
            throw Error(ErrorCode::exhausted, quoted(path) + " holds too many files to list");
        text += data;
    };
    run_agent(client, instance, command);
    std::vector<TreeFile> files = tree_files(text);
    if (files.empty()) throw Error(ErrorCode::internal, "svc-agent tells nothing of " + quoted(path));
    return files;
}

void push_files(ApiClient& client, std::string_view instance, const std::filesystem::path& source,
                const std::string& target, const TransferOptions& options) {
    const std::vector<TreeFile> files = list_tree(source, TreeDepth::all);
    const std::string place = place_in_instance(client, instance, source, target);
    KnownFiles known;
    if (options.resume) known = known_files(list_if_there(client, instance, place, TreeDepth::all));
    const std::uint64_t total = bytes_in(files, known);
    std::exception_ptr failure;
    AgentCommand command;
    command.words = {"files", "take", std::to_string(options.owner.uid), std::to_string(options.owner.gid),
                     place};
    command.input = [&](RemoteExec& session) {
        std::uint64_t done = 0;
        try {
            send_tree(source, known, [&](std::string_view bytes) {
                session.send_input(bytes);
                if (options.progress) options.progress(std::min(done += bytes.size(), total), total);
            });
            session.end_input();
        } catch (const Error& e) {
            if (e.code() == ErrorCode::unavailable) return;  // the command has ended and tells why
            failure = std::current_exception();
            session.abort();
        } catch (...) {
            failure = std::current_exception();
            session.abort();
        }
    };
    command.output = [](std::string_view) {};
    try {
        run_agent(client, instance, command);
    } catch (const Error&) {
        if (failure) std::rethrow_exception(failure);
        throw;
    }
}

void pull_files(ApiClient& client, std::string_view instance, const std::string& source,
                const std::filesystem::path& target, const TransferOptions& options) {
    const std::filesystem::path place = place_here(source, target);
    std::vector<TreeFile> have;
    if (options.resume && std::filesystem::exists(place)) have = list_tree(place, TreeDepth::all);
    auto [reading, writing] = make_stream();
    std::exception_ptr failure;
    std::jthread taker([&, end = std::move(reading)]() mutable {
        try {
            take_tree(std::move(end), place, {});
        } catch (...) {
            failure = std::current_exception();
        }
    });
    std::uint64_t done = 0;
    AgentCommand command;
    command.words = {"files", "send", source};
    command.input = [&](RemoteExec& session) { send_known(session, have); };
    command.output = [&, &taker_end = writing](std::string_view data) {
        if (!send_to_socket(taker_end.get(), data)) throw Error(ErrorCode::cancelled, "taking it has failed");
        if (options.progress) options.progress(done += data.size(), 0);
    };
    std::exception_ptr broken;
    try {
        run_agent(client, instance, command);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::cancelled) broken = std::current_exception();
    } catch (...) {
        broken = std::current_exception();
    }
    writing.reset();
    taker.join();
    if (broken) std::rethrow_exception(broken);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace svc
