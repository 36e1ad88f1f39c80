#include "instance-agent/agent/processes/first_process.h"

#include <sys/stat.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration first_restart_pause = 2ms;
constexpr Duration longest_restart_pause = 50ms;

// The guest's init is svc-agent itself where the image was an OCI image: "svc-agent init FILE".
bool is_image_init(const Paths& paths) try {
    const auto words = split(read_file(paths.proc / "1/cmdline"), '\0');
    return words.size() > 1 && words[1] == "init";
} catch (const Error&) {
    return false;  // looked at again
}

}  // namespace

bool is_first_process_ours(const Paths& paths) {
    struct stat first {};
    struct stat own {};
    if (::stat((paths.proc / "1/exe").c_str(), &first) != 0) return false;
    if (::stat((paths.proc / "self/exe").c_str(), &own) != 0) return false;
    return first.st_dev == own.st_dev && first.st_ino == own.st_ino && !is_image_init(paths);
}

bool wait_for_guest(const Paths& paths, Clock& clock, std::stop_token stop) {
    for (Duration pause = first_restart_pause; is_first_process_ours(paths);
         pause = std::min(pause * 2, longest_restart_pause))
        if (!clock.wait(stop, pause)) return false;
    return !stop.stop_requested();
}

}  // namespace svc::agent
