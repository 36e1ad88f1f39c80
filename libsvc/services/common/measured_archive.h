#pragma once
// Archives whose digest is known before their first byte is sent.
#include <memory>

#include "libsvc/model/packages/application.h"
#include "libsvc/services/common/content.h"

namespace svc {

struct MeasuredArchive {
    ExportDigest digest;
    std::unique_ptr<ArchiveStream> archive;
};

// Reads `archive` of `request` to its end, into a scratch file, which the result reads: so it is compressed
// once. Where the disk has no room for that, the archive is made once more, or exhausted is thrown where its
// format is not known. Blocks for as long as that takes.
MeasuredArchive measure_archive(std::unique_ptr<ArchiveStream> archive, const ExportRequest& request,
                                Content& content);

}  // namespace svc
