#include "cli/command_line/suggestion.h"

#include <algorithm>

#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr std::size_t most_slips = 2;
constexpr std::size_t letters_per_slip = 3;
constexpr std::size_t least_beginning = 2;

// The number of slips between two words: letters that are missing, extra, wrong, or swapped with their
// neighbour.
std::size_t slips_between(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> slips(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) slips[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) slips[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
            slips[i][j] = std::min({slips[i - 1][j] + 1, slips[i][j - 1] + 1, slips[i - 1][j - 1] + wrong});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                slips[i][j] = std::min(slips[i][j], slips[i - 2][j - 2] + 1);
        }
    }
    return slips[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
    const std::size_t allowed = std::clamp(word.size() / letters_per_slip, std::size_t{1}, most_slips);
    std::string best;
    std::size_t least = allowed + 1;
    for (const std::string& candidate : known) {
        if (candidate.size() > word.size() + allowed || word.size() > candidate.size() + allowed) continue;
        const std::size_t slips = slips_between(word, candidate);
        if (slips >= least) continue;
        least = slips;
        best = candidate;
    }
    if (!best.empty() || word.size() < least_beginning) return best;
    const auto longer = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
        return candidate.starts_with(word);
    });
    return longer == known.end() ? "" : *longer;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    const std::string near = nearest(word, known);
    return near.empty() ? "" : "; did you mean " + quoted(near) + "?";
}

}  // namespace svc::cli
