#pragma once
// Reads a dictionary of libFuzzer: a word a line, in quotes, with \xNN for bytes; '#' begins a comment.
#include <filesystem>
#include <string>
#include <vector>

namespace svc::fuzz {

std::vector<std::string> read_dictionary(const std::filesystem::path& file);  // absent: no words

}  // namespace svc::fuzz
