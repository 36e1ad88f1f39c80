#pragma once
// Writes the wire format of protocol buffers, as far as a trace needs it.
#include <cstdint>
#include <string>
#include <string_view>

namespace svc::agent {

// One message, built up in memory.
class ProtoWriter {
  public:
    void number(std::uint32_t field, std::uint64_t value);  // varint; int64 by conversion
    void text(std::uint32_t field, std::string_view value);
    void message(std::uint32_t field, const ProtoWriter& value) { text(field, value.bytes_); }
    const std::string& bytes() const noexcept { return bytes_; }

  private:
    void varint(std::uint64_t value);

    std::string bytes_;
};

}  // namespace svc::agent
