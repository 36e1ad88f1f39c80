#pragma once
// Which images of an image server are wanted here. Pure functions.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/remote/image_server.h"

namespace svc {

struct ImageChoice {
    std::string architecture;
    std::string lockstep_with;  // version of this service; "": images of any release
};

// The newest usable version of each image, in the server's order. An image that names no release is always
// usable.
std::vector<OfferedImage> newest_images(const std::vector<OfferedImage>& offered, const ImageChoice& choice);
// "jammy:amd64" or "jammy:amd64@20240101": by name or alias; without a version the newest one. Only of this
// architecture.
std::optional<OfferedImage> find_offered(const std::vector<OfferedImage>& offered, std::string_view remote,
                                         const std::string& architecture);
// "1.22.3" and "1.22.0" are of one minor release.
bool same_minor_release(std::string_view a, std::string_view b);

}  // namespace svc
