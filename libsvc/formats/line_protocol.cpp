#include "libsvc/formats/line_protocol.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

[[noreturn]] void refuse_line(std::string_view reason) {
    throw Error(ErrorCode::invalid_argument, std::string(reason));
}

bool is_name(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), part);
}

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Reads a line from front to back.
class Reader {
  public:
    Reader(std::string_view line, const LineLimits& limits) : rest_(line), limits_(limits) {}

    LineSample read() {
        LineSample sample;
        sample.measurement = name(", ");
        while (take(',')) add_tag(sample);
        if (!take(' ')) refuse_line("fields are missing");
        skip_blanks();
        do add_field(sample);
        while (take(','));
        skip_blanks();
        if (!rest_.empty()) sample.time = time();
        std::sort(sample.tags.begin(), sample.tags.end());
        const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
        if (std::adjacent_find(sample.tags.begin(), sample.tags.end(), same) != sample.tags.end())
            refuse_line("a tag is given twice");
        return sample;
    }

  private:
    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void skip_blanks() {
        while (take(' ')) {
        }
    }

    // The text up to one of `ends`. A character after a backslash is no end.
    std::string word(std::string_view ends, std::size_t limit) {
        std::string text;
        while (!rest_.empty() && ends.find(rest_.front()) == std::string_view::npos) {
            const bool escape = rest_.size() > 1 && rest_.front() == '\\' &&
                                std::string_view(",= \\").find(rest_[1]) != std::string_view::npos;
            if (escape) rest_.remove_prefix(1);
            text += rest_.front();
            rest_.remove_prefix(1);
            if (text.size() > limit) refuse_line("a name or value is too long");
        }
        return text;
    }
    std::string name(std::string_view ends) {
        std::string text = word(ends, limits_.name);
        if (!is_name(text)) refuse_line("a name has other characters than letters, digits and _");
        return text;
    }

    void add_tag(LineSample& sample) {
        if (sample.tags.size() == limits_.tags) refuse_line("there are too many tags");
        std::string key = name("= ,");
        if (!take('=')) refuse_line("a tag has no value");
        std::string value = word(" ,", limits_.value);
        if (value.empty() || !is_printable(value)) refuse_line("a tag's value is empty or not printable");
        tag_bytes_ += key.size() + value.size();
        if (tag_bytes_ > limits_.all_tags) refuse_line("the tags are too long");
        sample.tags.emplace_back(std::move(key), std::move(value));
    }

    void add_field(LineSample& sample) {
        if (++fields_ > limits_.fields) refuse_line("there are too many fields");
        std::string key = name("= ,");
        if (!take('=')) refuse_line("a field has no value");
        if (take('"')) return skip_text();
        const double value = number(rest_.substr(0, std::min(rest_.find_first_of(" ,"), rest_.size())));
        sample.fields.emplace_back(std::move(key), value);
    }
    void skip_text() {
        while (!rest_.empty() && rest_.front() != '"') {
            const bool escape = rest_.front() == '\\' && rest_.size() > 1;
            rest_.remove_prefix(escape ? 2 : 1);
        }
        if (!take('"')) refuse_line("a text has no end");
    }

    double number(std::string_view text) {
        rest_.remove_prefix(text.size());
        for (const std::string_view word : {"t", "T", "true", "True", "TRUE"})
            if (text == word) return 1;
        for (const std::string_view word : {"f", "F", "false", "False", "FALSE"})
            if (text == word) return 0;
        const bool whole = !text.empty() && (text.back() == 'i' || text.back() == 'u');
        if (whole) text.remove_suffix(1);
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto [after, problem] = std::from_chars(text.data(), end, value);
        const bool good = !text.empty() && problem == std::errc() && after == end && std::isfinite(value);
        if (!good || (whole && value != std::trunc(value))) refuse_line("a field's value is no number");
        return value;
    }

    std::int64_t time() {
        std::int64_t value = 0;
        const char* const end = rest_.data() + rest_.size();
        const auto [after, problem] = std::from_chars(rest_.data(), end, value);
        if (problem != std::errc() || after != end) refuse_line("the time is no whole number");
        return value;
    }

    std::string_view rest_;
    const LineLimits& limits_;
    std::size_t fields_ = 0, tag_bytes_ = 0;
};

}  // namespace

LineSample parse_line(std::string_view line, const LineLimits& limits) {
    if (line.size() > limits.line) refuse_line("the line is too long");
    return Reader(line, limits).read();
}

LineWriter::LineWriter(std::string_view measurement) : head_(measurement) {}

LineWriter& LineWriter::tag(std::string_view name, std::string_view value) {
    if (value.empty()) return *this;
    head_ += "," + std::string(name) + "=";
    for (const char c : value.substr(0, LineLimits().value)) {
        if (std::string_view(",= \\").find(c) != std::string_view::npos) head_ += '\\';
        head_ += is_printable({&c, 1}) ? c : '_';
    }
    return *this;
}

LineWriter& LineWriter::field(std::string_view name, std::uint64_t value) {
    return add_field(name, std::to_string(value) + "i");
}

LineWriter& LineWriter::field(std::string_view name, double value) {
    if (!std::isfinite(value)) return *this;
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
    return add_field(name, {text, static_cast<std::size_t>(end - text)});
}

LineWriter& LineWriter::add_field(std::string_view name, std::string_view value) {
    if (!fields_.empty()) fields_ += ',';
    fields_ += std::string(name) + "=" + std::string(value);
    return *this;
}

std::string LineWriter::finish(std::int64_t nanoseconds) const {
    if (fields_.empty()) refuse_line("the line has no field");
    return head_ + " " + fields_ + " " + std::to_string(nanoseconds);
}

void for_each_line(std::string_view text, const std::function<void(std::string_view line)>& take) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty() && line.front() != '#') take(line);
    }
}

}  // namespace svc
