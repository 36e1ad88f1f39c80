#pragma once
// Reads traces back, by the description of the format alone.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace svc::test {

// A protocol buffer message: fields by number. Throws std::runtime_error for bytes that are none.
struct ProtoMessage {
    explicit ProtoMessage(std::string_view bytes);
    std::uint64_t number(std::uint32_t field) const;     // the last one; throws std::out_of_range without any
    const std::string& text(std::uint32_t field) const;  // the same
    ProtoMessage message(std::uint32_t field) const { return ProtoMessage(text(field)); }
    bool has(std::uint32_t field) const { return numbers.count(field) + texts.count(field) != 0; }

    std::map<std::uint32_t, std::vector<std::uint64_t>> numbers;
    std::map<std::uint32_t, std::vector<std::string>> texts;
};

}  // namespace svc::test
