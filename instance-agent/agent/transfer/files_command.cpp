#include "instance-agent/agent/transfer/files_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/tree_stream.h"

namespace svc::agent {
namespace {

constexpr const char* files_usage =
    "usage: svc-agent files look PATH | list PATH | list-all PATH | send PATH | take UID GID PATH\n"
    "The instance's end of svcctl file.\n";
constexpr int not_there = 3;  // exit status
constexpr std::size_t input_block = 64U << 10;
constexpr std::size_t max_known_bytes = 64U << 20;

void list(const std::string& path, TreeDepth depth) {
    std::string lines;
    for (const TreeFile& file : list_tree(path, depth)) lines += tree_line(file);
    write_all(STDOUT_FILENO, lines);
}

std::string read_input() {
    std::string text;
    std::array<char, input_block> block;
    for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read standard input", errno);
        if (got == 0) return text;
        text.append(block.data(), static_cast<std::size_t>(got));
        if (text.size() > max_known_bytes)
            throw Error(ErrorCode::invalid_argument, "too many files are known");
    }
}

KnownFiles read_known() {
    return known_files(tree_files(read_input()));
}

std::uint32_t id_of(const std::string& text) {
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size())
        throw Error(ErrorCode::invalid_argument, quoted(text) + " is no user or group id");
    return id;
}

void take(const std::vector<std::string>& words) {
    TakeOptions options;
    options.owner = TreeOwner{id_of(words[1]), id_of(words[2])};
    options.keep_special_bits = true;
    FileDescriptor input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!input) throw system_error("cannot read standard input", errno);
    take_tree(std::move(input), words[3], options);
}

}  // namespace

int run_files(const std::vector<std::string>& words) try {
    const std::string word = words.empty() ? "" : words[0];
    if (word == "--help") return std::fputs(files_usage, stdout), 0;
    if (word == "take" && words.size() == 4) return take(words), 0;
    if (words.size() != 2) throw Error(ErrorCode::invalid_argument, files_usage);
    for (const TreeDepth depth : {TreeDepth::itself, TreeDepth::list, TreeDepth::all})
        if (word == to_text(depth)) return list(words[1], depth), 0;
    if (word != "send") throw Error(ErrorCode::invalid_argument, files_usage);
    send_tree(words[1], read_known(), [](std::string_view bytes) { write_all(STDOUT_FILENO, bytes); });
    return 0;
} catch (const Error& e) {
    if (e.code() != ErrorCode::not_found) throw;
    std::fprintf(stderr, "svc-agent: %s\n", e.what());
    return not_there;
}

}  // namespace svc::agent
