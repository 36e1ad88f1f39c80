#pragma once
// Internal to this folder: the name, number and architecture of a version in a catalogue, which are always
// checked.
#include <string>
#include <string_view>

namespace svc {

inline constexpr std::size_t max_catalogue_manifest = 1U << 20;
inline constexpr std::size_t max_catalogue_applications = 10'000;

// All throw invalid_argument. A name is an application's name without a dot at its beginning: such names are
// for unfinished files.
void check_catalogue_name(std::string_view name);
void check_catalogue_architecture(std::string_view architecture);
int parse_version_number(std::string_view text);  // "0", "12", not "012"

struct CatalogueKey {
    std::string name;
    int version = 0;
    std::string architecture;

    CatalogueKey(std::string_view name, int version, std::string_view architecture);  // checks
    std::string version_path() const;                                                 // "candy/3"
    std::string path() const;  // "candy/3/x86_64", in a URL as it is
};

}  // namespace svc
