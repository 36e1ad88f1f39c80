#include "tests/bench/load/process_memory.h"

#include <charconv>

#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::bench {

std::uint64_t memory_of(const std::string& pid, std::string_view what) {
    const std::string text = read_file("/proc/" + pid + "/smaps_rollup");
    const auto at = text.find("\n" + std::string(what) + ":");
    if (at == std::string::npos) return 0;
    const std::string_view figure = trim(std::string_view(text).substr(at + what.size() + 2, 24));
    std::uint64_t number = 0;
    std::from_chars(figure.data(), figure.data() + figure.size(), number);
    return number;
}

}  // namespace svc::bench
