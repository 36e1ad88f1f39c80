#include "instance-agent/agent/devices/tracing/trace_ring.h"

#include <algorithm>
#include <cstring>

namespace svc::agent {

// Left uninitialised: the kernel gives the pages when they are written.
TraceRing::TraceRing(std::size_t capacity) : capacity_(capacity), data_(new unsigned char[capacity]) {}

// A tag of one byte, the length as a varint, the content.
void TraceRing::drop_oldest() {
    std::size_t head = 1;
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char byte = at(head++);
        length |= std::size_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) break;
    }
    first_ = (first_ + head + length) % capacity_;
    size_ -= head + length;
    ++dropped_;
}

void TraceRing::append(std::string_view record) {
    if (record.size() > capacity_) {
        ++dropped_;
        return;
    }
    while (capacity_ - size_ < record.size()) drop_oldest();
    const std::size_t begin = (first_ + size_) % capacity_;
    const std::size_t straight = std::min(record.size(), capacity_ - begin);
    std::memcpy(data_.get() + begin, record.data(), straight);
    std::memcpy(data_.get(), record.data() + straight, record.size() - straight);
    size_ += record.size();
}

std::array<std::string_view, 2> TraceRing::content() const {
    const auto* bytes = reinterpret_cast<const char*>(data_.get());
    const std::size_t straight = std::min(size_, capacity_ - first_);
    return {std::string_view(bytes + first_, straight), std::string_view(bytes, size_ - straight)};
}

}  // namespace svc::agent
