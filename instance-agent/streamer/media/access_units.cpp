#include "instance-agent/streamer/media/access_units.h"

#include <algorithm>
#include <array>

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

// Zeros after a unit belong to the start code that follows, or to nothing.
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

void take(std::vector<Bytes>& sets, const std::vector<Unit>& units, Kind kind) {
    std::vector<Bytes> found;
    for (const Unit unit : units) {
        const Bytes set(unit.begin(), unit.end());
        if (kind_of(unit) == kind && std::find(found.begin(), found.end(), set) == found.end())
            found.push_back(set);
    }
    if (!found.empty()) sets = std::move(found);
}

}  // namespace

void AccessUnits::note_parameters(const std::vector<Unit>& units) {
    take(sequence_sets_, units, sequence_set);
    take(picture_sets_, units, picture_set);
}

std::optional<Bytes> AccessUnits::tidy(std::span<const std::uint8_t> unit) {
    const std::vector<Unit> units = units_of(unit);
    note_parameters(units);
    if (std::none_of(units.begin(), units.end(), is_picture)) return std::nullopt;
    const bool anew = std::any_of(units.begin(), units.end(), begins_anew);
    Bytes tidied;
    tidied.reserve(unit.size() + 64);
    if (anew) {
        for (const Bytes& set : sequence_sets_) append(tidied, set);
        for (const Bytes& set : picture_sets_) append(tidied, set);
    }
    for (const Unit one : units)
        if (!is_needless(one) && !(anew && is_parameters(one))) append(tidied, one);
    return tidied;
}

}  // namespace svc::streamer
