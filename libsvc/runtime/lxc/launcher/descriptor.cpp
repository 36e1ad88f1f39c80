#include "libsvc/runtime/lxc/launcher/descriptor.h"

#include <cerrno>
#include <cstring>

#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

void fail(std::string_view step) {
    throw LaunchFailure(std::string(step) + ": " + std::strerror(errno));
}

long check(long result, std::string_view step) {
    if (result < 0) fail(step);
    return result;
}

Descriptor opened(int folder, const std::string& path, int flags, std::string_view step) {
    Descriptor descriptor(::openat(folder, path.c_str(), flags | O_CLOEXEC));
    if (!descriptor) fail(std::string(step) + " '" + path + "'");
    return descriptor;
}

void write_text(int folder, const std::string& path, std::string_view text) {
    const Descriptor file = opened(folder, path, O_WRONLY, "cannot open");
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        fail("cannot write '" + std::string(text) + "' to '" + path + "'");
}

std::string read_text(int folder, const std::string& path) {
    const Descriptor file = opened(folder, path, O_RDONLY, "cannot open");
    std::string text(std::size_t{64} << 10U, '\0');
    std::size_t size = 0;
    for (;;) {
        const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
        if (got < 0) fail("cannot read '" + path + "'");
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
        if (size == text.size()) text.resize(2 * size);
    }
    text.resize(size);
    return text;
}

}  // namespace svc::lxc
