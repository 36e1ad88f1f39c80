#include "server/process/line_of_key.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/strings.h"

namespace svc::process {

namespace {

constexpr std::size_t nowhere = std::string::npos;

struct Line {
    std::size_t indent = nowhere;  // nowhere: nothing but blanks or a comment
    bool item = false;             // begins with "- "
    std::string key;               // "" when it has none
    std::size_t column = 0;        // of the key
};

Line read_line(std::string_view text) {
    Line line;
    const std::size_t indent = text.find_first_not_of(' ');
    if (indent == nowhere || text[indent] == '#') return line;
    line.indent = indent;
    std::string_view rest = text.substr(indent);
    if (rest == "-" || rest.starts_with("- ")) {
        line.item = true;
        rest = trim(rest.substr(1));
    }
    const std::size_t colon = rest.find(':');
    if (colon == nowhere) return line;
    line.column = static_cast<std::size_t>(rest.data() - text.data());
    rest = trim(rest.substr(0, colon));
    const bool in_quotes = rest.size() > 1 && (rest.front() == '"' || rest.front() == '\'');
    line.key = std::string(in_quotes ? rest.substr(1, rest.size() - 2) : rest);
    return line;
}

// Where a key or an item is, and the lines of what it holds: [begin, end).
struct Range {
    std::size_t line = 0, begin = 0, end = 0;
};

class Search {
  public:
    explicit Search(std::string_view yaml) {
        for (const std::string& line : split(yaml, '\n')) lines_.push_back(read_line(line));
    }
    Range all() const { return {0, 0, lines_.size()}; }
    // Of the outermost keys there: all of them begin in one column.
    std::optional<Range> key(const Range& range, std::string_view name) const {
        std::size_t column = nowhere;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Line& line = lines_[i];
            if (line.key.empty() || (column != nowhere && line.column != column)) continue;
            column = line.column;
            if (line.key == name) return Range{i, i + 1, end_of_key(i, range.end)};
        }
        return std::nullopt;
    }
    std::optional<Range> item(const Range& range, std::size_t index) const {
        std::size_t indent = nowhere;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            if (!lines_[i].item || (indent != nowhere && lines_[i].indent != indent)) continue;
            indent = lines_[i].indent;
            if (index-- == 0) return Range{i, i, end_of_item(i, range.end)};
        }
        return std::nullopt;
    }

  private:
    // A list may stand in the column of its key.
    std::size_t end_of_key(std::size_t first, std::size_t limit) const {
        const std::size_t column = lines_[first].column;
        for (std::size_t i = first + 1; i < limit; ++i) {
            const Line& line = lines_[i];
            if (line.indent == nowhere || line.indent > column) continue;
            if (line.indent < column || !line.item) return i;
        }
        return limit;
    }
    std::size_t end_of_item(std::size_t first, std::size_t limit) const {
        for (std::size_t i = first + 1; i < limit; ++i)
            if (lines_[i].indent != nowhere && lines_[i].indent <= lines_[first].indent) return i;
        return limit;
    }

    std::vector<Line> lines_;
};

}  // namespace

std::size_t line_of_key(std::string_view yaml, std::string_view path) {
    const Search search(yaml);
    Range range = search.all();
    std::size_t line = 0;
    for (const std::string& part : split(path, '.')) {
        const std::size_t bracket = part.find('[');
        auto found = search.key(range, part.substr(0, bracket));
        if (!found) break;
        if (bracket != nowhere)
            found =
                search.item(*found, std::strtoul(part.c_str() + bracket + 1, nullptr, 10)).value_or(*found);
        range = *found;
        line = range.line + 1;
    }
    return line;
}

}  // namespace svc::process
