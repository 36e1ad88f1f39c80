#include "libsvc/services/nodes/port_pool.h"

#include <algorithm>

namespace svc {

PortPool::PortPool(std::uint16_t first, std::uint16_t last)
    : first_(first), taken_(last >= first ? std::size_t{last} - first + 1 : 0), free_(taken_.size()) {}

std::uint16_t PortPool::take(std::uint16_t count) {
    while (lowest_ < taken_.size() && taken_[lowest_]) ++lowest_;
    std::size_t row = 0;
    for (std::size_t i = lowest_; i < taken_.size(); ++i) {
        row = taken_[i] ? 0 : row + 1;
        if (row < count) continue;
        const std::size_t start = i + 1 - count;
        mark(start, count, true);
        return static_cast<std::uint16_t>(first_ + start);
    }
    return 0;
}

bool PortPool::take_exactly(std::uint16_t first, std::uint16_t count) {
    if (first < first_ || std::size_t{first} - first_ + count > taken_.size()) return false;
    const std::size_t start = first - first_;
    for (std::size_t i = start; i < start + count; ++i)
        if (taken_[i]) return false;
    mark(start, count, true);
    return true;
}

void PortPool::give_back(std::uint16_t first, std::uint16_t count) {
    if (first >= first_ && std::size_t{first} - first_ + count <= taken_.size())
        mark(first - first_, count, false);
}

void PortPool::mark(std::size_t index, std::uint16_t count, bool taken) {
    for (std::size_t i = index; i < index + count; ++i) {
        if (taken_[i] != taken) free_ += taken ? -1 : 1;
        taken_[i] = taken;
    }
    if (!taken && count > 0) lowest_ = std::min(lowest_, index);
}

}  // namespace svc
