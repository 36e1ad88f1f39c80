#include "libsvc/services/images/offered_images.h"

#include <algorithm>

#include "libsvc/base/strings.h"

namespace svc {

namespace {

bool answers_to(const OfferedImage& image, std::string_view name) {
    const auto& aliases = image.aliases;
    return image.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

}  // namespace

bool same_minor_release(std::string_view a, std::string_view b) {
    const auto left = split(a, '.'), right = split(b, '.');
    return left.size() >= 2 && right.size() >= 2 && left[0] == right[0] && left[1] == right[1];
}

std::vector<OfferedImage> newest_images(const std::vector<OfferedImage>& offered, const ImageChoice& choice) {
    std::vector<OfferedImage> newest;
    for (const auto& image : offered) {
        const bool fits = choice.lockstep_with.empty() || image.release.empty() ||
                          same_minor_release(image.release, choice.lockstep_with);
        if (image.architecture != choice.architecture || !fits) continue;
        const auto same = std::find_if(newest.begin(), newest.end(),
                                       [&](const OfferedImage& one) { return one.name == image.name; });
        if (same == newest.end())
            newest.push_back(image);
        else
            *same = image;  // the server lists the newest version last
    }
    return newest;
}

std::optional<OfferedImage> find_offered(const std::vector<OfferedImage>& offered, std::string_view remote,
                                         const std::string& architecture) {
    const auto at = remote.find('@');
    const auto name = remote.substr(0, at);
    const auto version = at == std::string_view::npos ? std::string_view() : remote.substr(at + 1);
    std::optional<OfferedImage> found;
    for (const auto& image : offered) {
        if (image.architecture != architecture || !answers_to(image, name)) continue;
        if (at == std::string_view::npos || image.version == version) found = image;
    }
    return found;
}

}  // namespace svc
