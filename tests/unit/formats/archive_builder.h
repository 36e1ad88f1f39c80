#pragma once
// Writes small tar archives for tests, also ones no tar program would write.
#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"

struct ArchiveItem {
    std::string path;
    std::string content = {};
    unsigned type = AE_IFREG;
    unsigned mode = 0644;
    std::int64_t uid = 0;
    std::int64_t gid = 0;
    std::string link = {};  // of a symbolic link
    std::string hard_link = {};
    std::vector<std::pair<std::string, std::string>> attributes = {};
};

inline void fill_entry(archive_entry* entry, const ArchiveItem& item) {
    archive_entry_set_pathname(entry, item.path.c_str());
    archive_entry_set_filetype(entry, item.type);
    archive_entry_set_perm(entry, static_cast<mode_t>(item.mode));
    archive_entry_set_uid(entry, item.uid);
    archive_entry_set_gid(entry, item.gid);
    archive_entry_set_mtime(entry, 1700000000, 0);
    if (!item.link.empty()) archive_entry_set_symlink(entry, item.link.c_str());
    if (!item.hard_link.empty()) archive_entry_set_hardlink(entry, item.hard_link.c_str());
    if (item.type == AE_IFREG) archive_entry_set_size(entry, static_cast<la_int64_t>(item.content.size()));
    for (const auto& [name, value] : item.attributes)
        archive_entry_xattr_add_entry(entry, name.c_str(), value.data(), value.size());
}

inline void write_archive(archive* writer, const std::filesystem::path& file,
                          const std::vector<ArchiveItem>& items) {
    if (archive_write_open_filename(writer, file.c_str()) != ARCHIVE_OK)
        throw std::runtime_error(archive_error_string(writer));
    for (const ArchiveItem& item : items) {
        archive_entry* const entry = archive_entry_new();
        fill_entry(entry, item);
        if (archive_write_header(writer, entry) < ARCHIVE_WARN)
            throw std::runtime_error(archive_error_string(writer));
        if (!item.content.empty()) archive_write_data(writer, item.content.data(), item.content.size());
        archive_entry_free(entry);
    }
    archive_write_close(writer);
    archive_write_free(writer);
}

// `filter`: ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ...
inline void build_archive(const std::filesystem::path& file, const std::vector<ArchiveItem>& items,
                          int filter = ARCHIVE_FILTER_NONE) {
    archive* const writer = archive_write_new();
    archive_write_add_filter(writer, filter);
    archive_write_set_format_pax_restricted(writer);
    archive_write_set_options(writer, "hdrcharset=BINARY");
    write_archive(writer, file, items);
}

// Compresses a file as it is, once more.
inline void compress_file(const std::filesystem::path& file, int filter) {
    const std::string content = svc::read_file(file, std::size_t{1} << 30);
    archive* const writer = archive_write_new();
    archive_write_add_filter(writer, filter);
    archive_write_set_format_raw(writer);
    write_archive(writer, file, {{.path = "data", .content = content}});
}

inline void build_zip(const std::filesystem::path& file, const std::vector<ArchiveItem>& items) {
    archive* const writer = archive_write_new();
    archive_write_set_format_zip(writer);
    write_archive(writer, file, items);
}
