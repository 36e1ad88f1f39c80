// JSON from outside: parsing never crashes, and what parses survives writing and parsing again.
#include <cstdint>
#include <cstdlib>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::json_target {

FUZZ_TARGET(json)(const std::uint8_t* data, std::size_t size) {
    try {
        const auto value = svc::Json::parse({reinterpret_cast<const char*>(data), size});
        if (!(svc::Json::parse(value.dump()) == value)) std::abort();
    } catch (const svc::Error&) {
        return 0;
    }
    return 0;
}

}  // namespace svc::fuzz::json_target
