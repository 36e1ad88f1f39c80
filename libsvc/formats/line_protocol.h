#pragma once
// Samples as lines of text: `measurement,tag=value,... field=number,... time`. Pure; for input from anybody.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace svc {

struct LineSample {
    std::string measurement;
    std::vector<std::pair<std::string, std::string>> tags;  // by name
    std::vector<std::pair<std::string, double>> fields;     // truth values as 0 and 1; texts are left out
    std::optional<std::int64_t> time;                       // in whatever unit the sender has
};

// Longer ones are refused.
struct LineLimits {
    std::size_t line = 4096;  // bytes
    std::size_t tags = 16;
    std::size_t all_tags = 512;  // bytes of their names and values
    std::size_t fields = 64;
    std::size_t name = 64;    // bytes of a measurement's, tag's or field's name
    std::size_t value = 128;  // bytes of a tag's value
};

// Throws invalid_argument that says what is wrong, without the line. A name has letters, digits and `_`, as
// metrics have; a tag's value is printable ASCII.
LineSample parse_line(std::string_view line, const LineLimits& limits = {});

// Makes one line. One thread.
class LineWriter {
  public:
    explicit LineWriter(std::string_view measurement);  // a name, like those of tags and fields
    // Tags before fields. Empty values are left out, for a line cannot have them; what is not printable ASCII
    // becomes '_', and what is beyond 128 bytes is cut off.
    LineWriter& tag(std::string_view name, std::string_view value);
    LineWriter& field(std::string_view name, std::uint64_t value);
    LineWriter& field(std::string_view name, double value);  // left out when it is not finite
    // The line, without its end. Throws invalid_argument when it has no field.
    std::string finish(std::int64_t nanoseconds) const;

  private:
    LineWriter& add_field(std::string_view name, std::string_view value);
    std::string head_, fields_;
};

// Calls `take` for each line that is neither empty nor a comment.
void for_each_line(std::string_view text, const std::function<void(std::string_view line)>& take);

}  // namespace svc
