// Binder devices are made those of one user: the kernel keeps the id of a device's first context manager as
// long as the module is loaded, and refuses others. A guest that came first could choose it, and with it keep
// every later guest from having a context manager.
#include <fcntl.h>
#include <linux/android/binder.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

namespace {

// The kernel takes the effective user; its claim outlives the descriptor. False, with errno; EBUSY: somebody
// is its context manager at present.
bool claim_as(uid_t user, int device) {
    if (::setresuid(static_cast<uid_t>(-1), user, 0) != 0) return false;
    std::int32_t unused = 0;
    const bool claimed = ::ioctl(device, BINDER_SET_CONTEXT_MGR, &unused) == 0;
    const int error = claimed ? 0 : errno;
    if (::setresuid(static_cast<uid_t>(-1), 0, 0) != 0) return false;
    errno = error;
    return claimed;
}

}  // namespace

int claim_binder_devices(uid_t user, char** devices) {
    int status = 0;
    for (; *devices != nullptr; ++devices) {
        const int device = ::open(*devices, O_RDWR | O_CLOEXEC);
        if (device < 0 || !claim_as(user, device)) {
            status = errno == EBUSY ? device_in_use : 1;
            std::fprintf(stderr, "%s: %s\n", *devices, std::strerror(errno));
            if (status == 1) return 1;
        }
        ::close(device);
    }
    return status;
}

}  // namespace svc::lxc
