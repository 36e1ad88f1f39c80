// What registries and image servers say: lists of applications, indexes, paths, versions.
#include <cstdint>

#include "libsvc/remote/catalogue.h"
#include "libsvc/remote/catalogue_key.h"
#include "libsvc/remote/simplestreams.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::remote_target {

using svc::fuzz::attempt;

FUZZ_TARGET(remote)(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attempt([&] { svc::read_index(text); });
    attempt([&] { svc::read_products(text); });
    attempt([&] { svc::CatalogueApplication::from_json(svc::Json::parse(text)).to_json().dump(); });
    attempt([&] { svc::check_server_path(text); });
    attempt([&] { svc::check_catalogue_name(text); });
    attempt([&] { svc::parse_version_number(text); });
    const auto half = size / 2;
    svc::is_older(text.substr(0, half), text.substr(half));
    return 0;
}

}  // namespace svc::fuzz::remote_target
