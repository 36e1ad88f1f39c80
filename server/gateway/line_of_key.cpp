#include "server/gateway/line_of_key.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/strings.h"

namespace svc::gateway {

namespace {

struct Line {
    std::size_t indent = 0;
    bool item = false;  // begins with "- "
    std::string key;    // "" when it is none
};

Line read_line(std::string_view text) {
    Line line;
    line.indent = text.find_first_not_of(' ');
    if (line.indent == std::string_view::npos || text[line.indent] == '#')
        return {std::string::npos, false, ""};
    std::string_view rest = text.substr(line.indent);
    if (rest == "-" || rest.starts_with("- ")) {
        line.item = true;
        rest = trim(rest.substr(1));
    }
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return line;
    rest = trim(rest.substr(0, colon));
    if (rest.size() > 1 && (rest.front() == '"' || rest.front() == '\''))
        rest = rest.substr(1, rest.size() - 2);
    line.key = std::string(rest);
    return line;
}

// The lines a key's value may be on: [begin, end).
struct Range {
    std::size_t begin = 0, end = 0;
};

class Search {
  public:
    explicit Search(std::string_view yaml) {
        for (const std::string& line : split(yaml, '\n')) lines_.push_back(read_line(line));
    }
    Range all() const { return {0, lines_.size()}; }
    std::optional<Range> key(Range range, std::string_view name) const {
        for (std::size_t i = range.begin; i < range.end; ++i)
            if (lines_[i].key == name) return Range{i, end_of(i, range.end, false)};
        return std::nullopt;
    }
    std::optional<Range> item(Range range, std::size_t index) const {
        std::size_t indent = std::string::npos;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            if (!lines_[i].item || (indent != std::string::npos && lines_[i].indent != indent)) continue;
            indent = lines_[i].indent;
            if (index-- == 0) return Range{i, end_of(i, range.end, true)};
        }
        return std::nullopt;
    }

  private:
    // A list may stand at the indent of its key.
    std::size_t end_of(std::size_t first, std::size_t limit, bool item) const {
        for (std::size_t i = first + 1; i < limit; ++i) {
            const Line& line = lines_[i];
            if (line.indent == std::string::npos || line.indent > lines_[first].indent) continue;
            if (line.indent < lines_[first].indent || item || !line.item) return i;
        }
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
        if (bracket != std::string::npos)
            found =
                search.item(*found, std::strtoul(part.c_str() + bracket + 1, nullptr, 10)).value_or(*found);
        range = *found;
        line = range.begin + 1;
    }
    return line;
}

}  // namespace svc::gateway
