#pragma once
// Samples in the line protocol of InfluxDB: `measurement,tag=value,... field=number,... time`. Parses
// untrusted input. Functions are pure; objects are not thread-safe.
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
    std::vector<std::pair<std::string, double>> fields;     // booleans as 0 and 1; texts are left out
    std::optional<std::int64_t> time;                       // the unit is the sender's
};

// A line beyond a limit is refused.
struct LineLimits {
    std::size_t line = 4096;  // bytes
    std::size_t tags = 16;
    std::size_t all_tags = 512;  // bytes of their names and values
    std::size_t fields = 64;
    std::size_t name = 64;    // bytes of the name of a measurement, tag or field
    std::size_t value = 128;  // bytes of a tag's value
};

// Throws invalid_argument with the reason, without the line. A name has letters, digits and `_`; the value of
// a tag is printable ASCII.
LineSample parse_line(std::string_view line, const LineLimits& limits = {});

// Makes one line.
class LineWriter {
  public:
    explicit LineWriter(std::string_view measurement);  // letters, digits and `_`, as all names
    // Tags come before fields. An empty value is left out, as a line cannot have one; bytes that are not
    // printable ASCII become '_'; a value is cut at 128 bytes.
    LineWriter& tag(std::string_view name, std::string_view value);
    LineWriter& field(std::string_view name, std::uint64_t value);
    LineWriter& field(std::string_view name, double value);  // left out when `value` is not finite
    // The line without a line end. Throws invalid_argument when it has no field.
    std::string finish(std::int64_t nanoseconds) const;

  private:
    LineWriter& add_field(std::string_view name, std::string_view value);
    std::string head_, fields_;
};

// Calls `take` for each line that is neither empty nor a comment.
void for_each_line(std::string_view text, const std::function<void(std::string_view line)>& take);

}  // namespace svc
