#pragma once
// Versions as archives that another service can import, and this one as an image (docs/applications.md,
// Export and import).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/services/applications/application_records.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/measured_archive.h"

namespace svc {

// An export that is about to be sent.
struct ApplicationExport {
    std::unique_ptr<ArchiveStream> archive;  // holds the version's layers until it is destroyed
    std::string fingerprint;                 // SHA-256 of the archive
    std::uint64_t size = 0;                  // bytes
    std::string file_name;                   // "candy-3.tar.gz", "candy-3.tar.zst"
    std::string manifest_sha256;
};

// Thread-safe.
class ApplicationExports {
  public:
    ApplicationExports(Applications& applications, const ApplicationRecords& records, Content& content)
        : applications_(applications), records_(records), content_(content) {}

    // By gzip or zstd. Only active versions; throws not_found, invalid_argument. The same bytes each time.
    // The first export of a version by a compression blocks until the archive is made as a whole: call it on
    // a pool thread.
    ApplicationExport export_version(std::string_view id_or_name, int version,
                                     Compression compression = Compression::gzip);

  private:
    MeasuredArchive measured(const Application& application, const ApplicationVersion& version,
                             const ExportRequest& request);

    Applications& applications_;
    const ApplicationRecords& records_;
    Content& content_;
};

// The metadata of an export; a change of it makes the stored fingerprint of the archive wrong.
ExportedVersion exported(const Application& application, const ApplicationVersion& version);
// Clears the fingerprints of the versions whose exports the change from `before` makes different.
void forget_stale_exports(const Application& before, Application& application);

}  // namespace svc
