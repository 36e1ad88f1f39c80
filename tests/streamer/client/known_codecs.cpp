#include "tests/streamer/client/known_codecs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "libsvc/base/strings.h"

namespace svc::streamer {
namespace {

using Lines = std::vector<std::string>;

// "a=rtpmap:96 VP8/90000" -> "96", "VP8/90000"; "": another line.
std::pair<std::string, std::string> attribute(const std::string& line, const std::string& name) {
    const std::string head = "a=" + name + ":";
    const std::size_t space = line.find(' ');
    if (!line.starts_with(head) || space == std::string::npos) return {};
    return {line.substr(head.size(), space - head.size()), line.substr(space + 1)};
}

std::set<std::string> known_payloads(const Lines& section, const std::vector<std::string>& codecs) {
    std::set<std::string> known;
    for (const std::string& line : section) {
        const auto [payload, meaning] = attribute(line, "rtpmap");
        const std::string name = meaning.substr(0, meaning.find('/'));
        if (std::find(codecs.begin(), codecs.end(), name) != codecs.end()) known.insert(payload);
    }
    for (const std::string& line : section) {
        const auto [payload, meaning] = attribute(line, "fmtp");
        if (meaning.starts_with("apt=") && known.contains(meaning.substr(4))) known.insert(payload);
    }
    return known;
}

Lines reduced(const Lines& section, const std::set<std::string>& known) {
    Lines kept;
    for (const std::string& line : section) {
        bool wanted = true;
        for (const char* const name : {"rtpmap", "fmtp", "rtcp-fb"})
            if (const std::string payload = attribute(line, name).first; !payload.empty())
                wanted = known.contains(payload);
        if (wanted) kept.push_back(line);
    }
    const auto words = split(kept.front(), ' ');
    kept.front() = words.at(0) + " " + words.at(1) + " " + words.at(2);
    for (std::size_t i = 3; i < words.size(); ++i)
        if (known.contains(words[i])) kept.front() += " " + words[i];
    return kept;
}

std::vector<Lines> sections_of(const std::string& sdp) {
    std::vector<Lines> sections(1);
    for (const std::string& raw : split(sdp, '\n')) {
        const std::string line(trim(raw));
        if (line.starts_with("m=")) sections.emplace_back();
        if (!line.empty()) sections.back().push_back(line);
    }
    return sections;
}

std::string text_of(const std::vector<Lines>& sections) {
    std::string text;
    for (const Lines& section : sections)
        for (const std::string& line : section) text += line + "\r\n";
    return text;
}

}  // namespace

std::string known_part(const std::string& offer, const std::vector<std::string>& codecs) {
    std::vector<Lines> sections = sections_of(offer);
    for (Lines& section : sections) {
        if (!section.front().starts_with("m=video")) continue;
        const auto known = known_payloads(section, codecs);
        if (!known.empty()) section = reduced(section, known);
    }
    return text_of(sections);
}

bool knows_display(const std::string& offer, const std::vector<std::string>& codecs) {
    bool known = true;  // of the last section with pictures
    for (const Lines& section : sections_of(offer))
        if (section.front().starts_with("m=video")) known = !known_payloads(section, codecs).empty();
    return known;
}

std::string without_pictures(const std::string& answer) {
    std::vector<Lines> sections = sections_of(answer);
    for (Lines& section : sections)
        if (section.front().starts_with("m=video 9")) section.front().replace(8, 1, "0");
    return text_of(sections);
}

}  // namespace svc::streamer
