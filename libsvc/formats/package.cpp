#include "libsvc/formats/package.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>

#include <array>
#include <optional>
#include <unordered_map>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/archive_reader.h"
#include "libsvc/formats/entry_path.h"

namespace svc {

namespace {

constexpr std::string_view manifest_name = "manifest.yaml";
// Limits of names: a small archive can have millions of empty entries with long names.
constexpr std::size_t max_path_bytes = 4096;
constexpr std::size_t package_max_depth = 64;
constexpr std::size_t max_names_bytes = std::size_t{16} << 20;

[[noreturn]] void refuse_package(const std::string& path, const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, "entry " + quoted(path) + " " + reason);
}

bool is_zip(const std::filesystem::path& file) {
    using namespace std::string_view_literals;
    const FileDescriptor source = open_file(file, O_RDONLY);
    std::array<char, 4> start{};
    if (::pread(source.get(), start.data(), start.size(), 0) != static_cast<ssize_t>(start.size()))
        return false;
    const std::string_view magic(start.data(), start.size());
    return magic == "PK\3\4"sv || magic == "PK\5\6"sv;  // PK\5\6: a zip archive without entries
}

PackageFormat package_format_of(const std::filesystem::path& file) {
    if (is_zip(file)) return PackageFormat::zip;
    if (detect_compression(file) == Compression::bzip2) return PackageFormat::bzip2_tar;
    throw Error(ErrorCode::invalid_argument, "package is not a bzip2 tarball");
}

class Lister {
  public:
    Lister(const std::filesystem::path& package, const PackageLimits& limits, std::stop_token stop,
           const PackageSink& sink)
        : limits_(limits),
          stop_(std::move(stop)),
          sink_(sink),
          format_(package_format_of(package)),
          reader_(package, reader_format(), limits.expansion) {}

    PackageListing run() {
        listing_.format = format_;
        ArchiveEntry entry;
        for (std::uint64_t seen = 1; reader_.next(entry); ++seen) {
            if (seen > limits_.max_entries)
                throw Error(ErrorCode::invalid_argument,
                            "package has more than " + std::to_string(limits_.max_entries) + " entries");
            add(entry);
        }
        check_tree();
        return std::move(listing_);
    }

  private:
    ArchiveFormat reader_format() const {
        return format_ == PackageFormat::zip ? ArchiveFormat::zip : ArchiveFormat::tar;
    }

    void check_stop() const {
        if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "reading the package was cancelled");
    }

    void add(const ArchiveEntry& entry) {
        check_stop();
        PackageEntry listed;
        listed.path = clean_entry_path(entry.path, entry.path);
        listed.kind = kind_of(entry);
        listed.mode = entry.mode;
        if (listed.path.empty() && listed.kind != PackageEntryKind::directory)
            refuse_package(entry.path, "takes the place of the top directory");
        if (listed.path.empty()) return;
        check_name(listed.path);
        check_link(listed.path, entry);
        if (listed.path == manifest_name && listed.kind != PackageEntryKind::file)
            refuse_package(entry.path, "is not a regular file");
        if (listed.kind == PackageEntryKind::file) read_file(entry, listed);
        listing_.entries.push_back(std::move(listed));
    }

    static PackageEntryKind kind_of(const ArchiveEntry& entry) {
        switch (entry.kind) {
            case EntryKind::file:
                return PackageEntryKind::file;
            case EntryKind::directory:
                return PackageEntryKind::directory;
            case EntryKind::symbolic_link:
                return PackageEntryKind::symbolic_link;
            case EntryKind::hard_link:
                return PackageEntryKind::hard_link;
            case EntryKind::fifo:
            case EntryKind::other:
                break;
        }
        refuse_package(entry.path, "is neither a file, a directory nor a link");
    }

    void check_name(const std::string& path) {
        names_bytes_ += path.size();
        const auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
        if (path.size() > max_path_bytes || depth >= package_max_depth)
            refuse_package(path.substr(0, 64), "has too long a name");
        if (names_bytes_ > max_names_bytes)
            throw Error(ErrorCode::invalid_argument, "package has too many long names");
    }

    void check_link(const std::string& path, const ArchiveEntry& entry) {
        if (entry.kind == EntryKind::symbolic_link && !leads_inside(path, entry.link_target))
            refuse_package(entry.path, "is a link that leaves the package");
        if (entry.kind == EntryKind::hard_link)
            hard_links_.emplace_back(path, clean_entry_path(entry.link_target, entry.path));
    }

    void read_file(const ArchiveEntry& entry, PackageEntry& listed) {
        const bool manifest = listed.path == manifest_name;
        if (manifest && entry.size > limits_.max_manifest)
            refuse_package(entry.path, "is larger than " + std::to_string(limits_.max_manifest) + " bytes");
        const std::uint64_t limit = limits_.max_bytes;
        if (entry.size > limit || listing_.unpacked_bytes > limit - entry.size)
            throw Error(ErrorCode::invalid_argument,
                        "package holds more than " + std::to_string(limit) + " bytes");
        listing_.unpacked_bytes += entry.size;
        reader_.check_expansion(listing_.unpacked_bytes);
        listed.size = entry.size;
        if (manifest) listing_.manifest.assign(static_cast<std::size_t>(entry.size), '\0');
        if (manifest) listing_.has_manifest = true;
        // Reads to the end, so that a truncated or corrupt file is found.
        while (const auto block = reader_.next_block()) {
            check_stop();
            if (block->offset + block->bytes.size() > entry.size)
                refuse_package(entry.path, "is longer than it says");
            if (manifest)
                listing_.manifest.replace(static_cast<std::size_t>(block->offset), block->bytes.size(),
                                          block->bytes);
            if (sink_) sink_(listed, block->offset, block->bytes);
        }
    }

    // After the last entry, as an archive may list a directory after the files in it.
    void check_tree() {
        std::unordered_map<std::string_view, PackageEntryKind> known;
        known.reserve(listing_.entries.size());
        for (const PackageEntry& entry : listing_.entries) {
            const auto [place, added] = known.emplace(entry.path, entry.kind);
            const bool directories =
                entry.kind == PackageEntryKind::directory && place->second == PackageEntryKind::directory;
            if (!added && !directories) refuse_package(entry.path, "appears twice");
        }
        for (const PackageEntry& entry : listing_.entries)
            for (std::size_t slash = entry.path.find('/'); slash != std::string::npos;
                 slash = entry.path.find('/', slash + 1)) {
                const auto above = known.find(std::string_view(entry.path).substr(0, slash));
                if (above != known.end() && above->second != PackageEntryKind::directory)
                    refuse_package(entry.path, "lies beneath something that is not a directory");
            }
        for (const auto& [path, target] : hard_links_) {
            const auto source = known.find(target);
            if (path == target || source == known.end() || source->second == PackageEntryKind::directory)
                refuse_package(path, "is a hard link to no file of the package");
        }
    }

    const PackageLimits limits_;
    const std::stop_token stop_;
    const PackageSink& sink_;
    const PackageFormat format_;
    ArchiveReader reader_;
    PackageListing listing_;
    std::size_t names_bytes_ = 0;
    std::vector<std::pair<std::string, std::string>> hard_links_;  // name, target
};

}  // namespace

const PackageEntry* PackageListing::find(std::string_view path) const {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const PackageEntry& entry) { return entry.path == path; });
    return found == entries.end() ? nullptr : &*found;
}

PackageListing list_package(const std::filesystem::path& package, const PackageLimits& limits,
                            std::stop_token stop, const PackageSink& sink) {
    return Lister(package, limits, std::move(stop), sink).run();
}

}  // namespace svc
