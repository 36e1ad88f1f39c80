// Small texts from outside: sizes, durations, times, ids, percent-encoding, targets.
#include <cstdint>

#include "libsvc/base/clock.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/id.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/size.h"
#include "libsvc/net/client/target.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::texts_target {

using svc::fuzz::attempt;

FUZZ_TARGET(texts)(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attempt([&] { svc::parse_size("size", text); });
    attempt([&] { svc::parse_duration(text); });
    attempt([&] { svc::from_rfc3339(text); });
    attempt([&] { svc::percent_decode(text, true); });
    attempt([&] { svc::base64_decode(text); });
    attempt([&] { svc::Target::parse(text); });
    svc::is_object_id(text);
    svc::is_uuid(text);
    svc::quoted(text);
    return 0;
}

}  // namespace svc::fuzz::texts_target
