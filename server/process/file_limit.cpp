#include "server/process/file_limit.h"

#include <sys/resource.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/processes/process.h"

namespace svc::process {

void raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw system_error("cannot read the limit of open files", errno);
    set_file_limit_of_children(limit.rlim_cur);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw system_error("cannot raise the limit of open files", errno);
    log::info("limit of open files",
              {{"files", std::to_string(limit.rlim_cur)}, {"before", std::to_string(before)}});
}

std::size_t file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw system_error("cannot read the limit of open files", errno);
    return limit.rlim_cur;
}

}  // namespace svc::process
