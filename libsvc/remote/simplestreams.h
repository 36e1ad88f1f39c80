#pragma once
// Internal to this folder: the index of an image server, as text (docs/image-server.md). Pure.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/remote/image_server.h"

namespace svc {

inline constexpr std::size_t max_index_bytes = 16U << 20;
inline constexpr const char* index_path = "streams/v1/index.json";

// Paths of the files of products that offer images. All throw invalid_argument for text that is malformed,
// exceeds the limits, or has paths that lead out of the server.
std::vector<std::string> read_index(std::string_view text);
// The images of one products file that we can use: a product without an architecture of ours or without a
// package for us is left out. Newest version of each product last.
std::vector<OfferedImage> read_products(std::string_view text);

void check_server_path(std::string_view path);
// Runs of digits count as numbers: "20240101_9" is before "20240101_10".
bool is_older(std::string_view a, std::string_view b);

}  // namespace svc
