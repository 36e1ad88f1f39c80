// Lines of samples from anybody: what is taken stays within the limits, however it is put.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "libsvc/base/error.h"
#include "libsvc/formats/line_protocol.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::line_protocol_target {

namespace {

void require(bool good) {
    if (!good) std::abort();
}

void check(const svc::LineSample& sample) {
    const svc::LineLimits limits;
    require(!sample.measurement.empty() && sample.measurement.size() <= limits.name);
    require(sample.tags.size() <= limits.tags && sample.fields.size() <= limits.fields);
    for (const auto& [name, value] : sample.tags) {
        require(!name.empty() && name.size() <= limits.name && !value.empty() &&
                value.size() <= limits.value);
        for (const char c : value) require(c >= ' ' && c <= '~');
    }
    for (const auto& [name, value] : sample.fields)
        require(name.size() <= limits.name && std::isfinite(value));
}

}  // namespace

FUZZ_TARGET(line_protocol)(const std::uint8_t* data, std::size_t size) {
    svc::for_each_line({reinterpret_cast<const char*>(data), size}, [](std::string_view line) {
        try {
            check(svc::parse_line(line));
        } catch (const svc::Error&) {
            return;
        }
    });
    return 0;
}

}  // namespace svc::fuzz::line_protocol_target
