#include "instance-agent/agent/devices/tracing/proto_writer.h"

namespace svc::agent {
namespace {

constexpr std::uint64_t wire_varint = 0;
constexpr std::uint64_t wire_bytes = 2;

}  // namespace

void ProtoWriter::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>((value & 0x7f) | 0x80));
    bytes_.push_back(static_cast<char>(value));
}

void ProtoWriter::number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | wire_varint);
    varint(value);
}

void ProtoWriter::text(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | wire_bytes);
    varint(value.size());
    bytes_ += value;
}

}  // namespace svc::agent
