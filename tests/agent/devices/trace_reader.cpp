#include "tests/agent/devices/trace_reader.h"

#include <stdexcept>

namespace svc::test {
namespace {

std::uint64_t take_varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (bytes.empty()) throw std::runtime_error("varint is cut off");
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return value;
    }
    throw std::runtime_error("varint is too long");
}

}  // namespace

ProtoMessage::ProtoMessage(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::uint64_t tag = take_varint(bytes);
        const auto field = static_cast<std::uint32_t>(tag >> 3);
        if ((tag & 7) == 0) {
            numbers[field].push_back(take_varint(bytes));
        } else if ((tag & 7) == 2) {
            const std::uint64_t length = take_varint(bytes);
            if (length > bytes.size()) throw std::runtime_error("field is cut off");
            texts[field].emplace_back(bytes.substr(0, length));
            bytes.remove_prefix(length);
        } else {
            throw std::runtime_error("unexpected wire type");
        }
    }
}

std::uint64_t ProtoMessage::number(std::uint32_t field) const {
    return numbers.at(field).back();
}

const std::string& ProtoMessage::text(std::uint32_t field) const {
    return texts.at(field).back();
}

}  // namespace svc::test
