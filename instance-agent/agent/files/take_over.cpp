#include "instance-agent/agent/files/take_over.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "instance-agent/agent/files/paths.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::agent {

namespace {

std::string all_of_input() {
    std::string text;
    std::array<char, 4096> block{};
    for (;;) {
        const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
        if (count == 0) return text;
        if (count > 0) text.append(block.data(), static_cast<std::size_t>(count));
        if (count < 0 && errno != EINTR) throw system_error("cannot read the user data", errno);
    }
}

}  // namespace

int run_take_over(const std::vector<std::string>& words) {
    if (words.size() != 1) throw Error(ErrorCode::invalid_argument, "take-over needs one name");
    const std::string data = all_of_input();
    const auto file = Paths().data / "userdata";
    if (data.empty())
        std::filesystem::remove(file);
    else
        write_file_atomically(file, data, 0644);
    if (::sethostname(words[0].data(), words[0].size()) != 0)
        throw system_error("cannot set the host name", errno);
    return 0;
}

}  // namespace svc::agent
