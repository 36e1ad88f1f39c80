#include "tests/fuzz/dictionary.h"

#include <cstdlib>
#include <fstream>

namespace svc::fuzz {

namespace {

std::string unescaped(const std::string& text) {
    std::string word;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            word += text[i];
        } else if (text[i + 1] == 'x' && i + 3 < text.size()) {
            word += static_cast<char>(std::strtoul(text.substr(i + 2, 2).c_str(), nullptr, 16));
            i += 3;
        } else {
            word += text[++i];
        }
    }
    return word;
}

}  // namespace

std::vector<std::string> read_dictionary(const std::filesystem::path& file) {
    std::vector<std::string> words;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find('"');
        const std::size_t last = line.rfind('"');
        if (line.empty() || line[0] == '#' || first == last) continue;
        words.push_back(unescaped(line.substr(first + 1, last - first - 1)));
    }
    return words;
}

}  // namespace svc::fuzz
