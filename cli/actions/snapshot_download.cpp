#include "cli/actions/snapshot_download.h"

#include <fcntl.h>

#include "cli/terminal/interrupts.h"
#include "cli/terminal/progress.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/client/snapshots.h"

namespace svc::cli {

void download_snapshot(Context& context, const std::string& instance, const std::string& snapshot,
                       const std::filesystem::path& path) {
    const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ProgressLine line(context.console());
    export_snapshot(context.client(), instance, snapshot, [&](std::string_view piece) {
        if (Interrupts::requested()) throw Error(ErrorCode::cancelled, "download cancelled");
        write_all(file.get(), piece);
        line.show_busy("Downloading");
    });
}

}  // namespace svc::cli
