// What etcd's gateway says: answers to reads, transactions and watches.
#include <cstdint>

#include "libsvc/store/etcd/wire.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::etcd_target {

using svc::fuzz::attempt;

FUZZ_TARGET(etcd)(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attempt([&] { svc::etcd::read_watch_message(text); });
    attempt([&] { svc::etcd::read_page(svc::Json::parse(text)); });
    attempt([&] { svc::etcd::read_transaction(svc::Json::parse(text)); });
    return 0;
}

}  // namespace svc::fuzz::etcd_target
