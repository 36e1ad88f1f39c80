#include "instance-agent/streamer/media/video/access_units.h"

#include <algorithm>
#include <array>
#include <utility>

namespace svc::streamer {
namespace {

using Unit = std::span<const std::uint8_t>;
enum Kind : std::uint8_t {
    slice = 1,
    last_slice = 5,
    sequence_set = 7,
    picture_set = 8,
    delimiter = 9,
    filler = 12
};
constexpr std::array<std::uint8_t, 4> start_code{0, 0, 0, 1};
constexpr std::array<std::uint8_t, 3> short_start_code{0, 0, 1};

std::uint8_t kind_of(Unit unit) {
    return unit.front() & 0x1F;
}
bool is_picture(Unit unit) {
    return kind_of(unit) >= slice && kind_of(unit) <= last_slice;
}
bool begins_anew(Unit unit) {
    return kind_of(unit) == last_slice;
}
bool is_parameters(Unit unit) {
    return kind_of(unit) == sequence_set || kind_of(unit) == picture_set;
}
bool is_needless(Unit unit) {
    return kind_of(unit) >= delimiter && kind_of(unit) <= filler;
}

// Zeros behind a unit belong to the next start code, or are padding.
Unit without_zeros(Unit unit) {
    while (!unit.empty() && unit.back() == 0) unit = unit.first(unit.size() - 1);
    return unit;
}

std::vector<Unit> units_of(Unit bytes) {
    std::vector<Unit> units;
    const auto next = [&](auto from) {
        return std::search(from, bytes.end(), short_start_code.begin(), short_start_code.end());
    };
    for (auto at = next(bytes.begin()); at != bytes.end();) {
        const auto begin = at + short_start_code.size();
        at = next(begin);
        if (const Unit unit = without_zeros({begin, at}); !unit.empty()) units.push_back(unit);
    }
    return units;
}

void append(Bytes& bytes, Unit unit) {
    bytes.insert(bytes.end(), start_code.begin(), start_code.end());
    bytes.insert(bytes.end(), unit.begin(), unit.end());
}

bool bit_of(Unit bytes, std::size_t place) {
    return place / 8 < bytes.size() && (bytes[place / 8] >> (7 - place % 8) & 1) != 0;
}

// The first number of these bytes, an Exp-Golomb code. Ids are at most 255, so no emulation prevention byte
// can occur in one.
unsigned id_in(Unit bytes) {
    constexpr std::size_t most_zeros = 8;
    std::size_t zeros = 0;
    while (zeros < most_zeros && !bit_of(bytes, zeros)) ++zeros;
    unsigned value = 0;
    for (std::size_t place = zeros; place <= 2 * zeros; ++place) value = value * 2 + bit_of(bytes, place);
    return value - 1;
}

Unit after(Unit unit, std::size_t bytes) {
    return unit.subspan(std::min(bytes, unit.size()));
}

}  // namespace

void AccessUnits::note_parameters(Unit unit) {
    constexpr std::size_t header = 1, profile_and_level = 3;
    const bool of_sequence = kind_of(unit) == sequence_set;
    const unsigned id = id_in(after(unit, of_sequence ? header + profile_and_level : header));
    (of_sequence ? sequence_sets_ : picture_sets_)[id].assign(unit.begin(), unit.end());
    unsent_ = true;
}

std::optional<Bytes> AccessUnits::tidy(std::span<const std::uint8_t> unit) {
    const std::vector<Unit> units = units_of(unit);
    for (const Unit one : units)
        if (is_parameters(one)) note_parameters(one);
    if (std::none_of(units.begin(), units.end(), is_picture)) return std::nullopt;
    const bool anew = std::any_of(units.begin(), units.end(), begins_anew);
    Bytes tidied;
    tidied.reserve(unit.size() + 64);
    if (std::exchange(unsent_, false) || anew)
        for (const Sets* sets : {&sequence_sets_, &picture_sets_})
            for (const auto& [id, set] : *sets) append(tidied, set);
    for (const Unit one : units)
        if (!is_needless(one) && !is_parameters(one)) append(tidied, one);
    return tidied;
}

}  // namespace svc::streamer
