#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>

namespace svc::fuzz {

namespace {

constexpr std::size_t max_input = 16U << 10;
constexpr std::array<const char*, 12> numbers{"0",          "-1",         "65536",
                                              "2147483648", "4294967296", "9223372036854775807",
                                              "1e309",      "-0",         "18446744073709551616",
                                              "0.1",        "NaN",        "99999999999999999999999999"};

}  // namespace

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> corpus, std::vector<std::string> words)
    : random_(seed), corpus_(std::move(corpus)), words_(std::move(words)) {
    if (corpus_.empty()) corpus_.emplace_back();
}

std::string Mutator::next() {
    std::string text = corpus_[below(corpus_.size())];
    for (std::size_t i = 0, changes = 1 + below(6); i < changes; ++i) change(text);
    if (text.size() > max_input) text.resize(max_input);
    return text;
}

void Mutator::change(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t size = below(std::min<std::size_t>(text.size() - at, 64) + 1);
    switch (below(9)) {
        case 0:
            if (!text.empty()) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
            return;
        case 1:
            if (!text.empty()) text[at] = static_cast<char>(random_());
            return;
        case 2:
            text.erase(at, size);
            return;
        case 3:
            return insert(text, text.substr(at, size));
        case 4:
            return insert(text, words_.empty() ? number() : words_[below(words_.size())]);
        case 5:
            return insert(text, number());
        case 6:
            return insert(text, std::string(1 + below(8), static_cast<char>(random_())));
        case 7: {  // the start of this one, the end of another
            const std::string& other = corpus_[below(corpus_.size())];
            text = text.substr(0, at) + other.substr(below(other.size()));
            return;
        }
        default:  // many times the same: what is deep, long or quadratic
            for (std::size_t i = 0, times = below(200); i < times && text.size() < max_input; ++i)
                text.insert(at, text.substr(at, std::min<std::size_t>(size, 8)));
    }
}

void Mutator::insert(std::string& text, const std::string& piece) {
    text.insert(below(text.size() + 1), piece);
}

std::string Mutator::number() {
    return numbers[below(numbers.size())];
}

}  // namespace svc::fuzz
