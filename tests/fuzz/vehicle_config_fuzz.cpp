// What describes a vehicle: configuration files, requests to set, configurations of a provider, ids of paths.
// The first byte chooses.
#include <array>
#include <cstdint>

#include "instance-agent/agent/devices/vehicle/config_file.h"
#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "instance-agent/agent/devices/vehicle/property_table.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::vehicle_config_target {

namespace {

using namespace svc;
using namespace svc::agent;

void check(bool holds) {
    if (!holds) __builtin_trap();
}

// What a file declares can be told and set back.
void read_file_text(std::string_view text) {
    PropertyTable table(parse_vehicle_config(text).properties);
    for (const PropertyConfig& config : table.configs()) {
        Json::parse(to_json(config).dump());
        for (const AreaId area : config.area_ids()) {
            const PropertyValue value = table.peek(config.prop, area);
            check(Json::parse(to_json(value).dump()).is_object());
        }
    }
}

void read_request(std::string_view text) {
    const PropertyValue value = read_set(Json::parse(text), "prop_id");
    const PropertyValue again = read_value(Json::parse(to_json(value).dump()), value.prop, value.area, 0);
    check(again.values == value.values);
}

void read_provider(std::string_view text) {
    const PropertyConfig config = read_config(Json::parse(text));
    check(read_config(Json::parse(to_json(config).dump())) == config);
}

const std::array<fuzz::Decoder, 4> readers = {read_file_text, read_request, read_provider,
                                              [](std::string_view text) { parse_property_number(text); }};

}  // namespace

FUZZ_TARGET(vehicle_config)(const std::uint8_t* data, std::size_t size) {
    return svc::fuzz::decode_with_one_of(readers, data, size);
}

}  // namespace svc::fuzz::vehicle_config_target
