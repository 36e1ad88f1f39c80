#include "cli/actions/capture_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cli/command_line/command.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr const char* partial = "capture";

// Bytes of a guest must not become what a terminal obeys.
void check_no_terminal(const Console& console) {
    if (console.out_is_terminal())
        throw UsageError("pictures are not written to a terminal: name a file with --output");
}

void check_may_be_replaced(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw Error(ErrorCode::invalid_argument, quoted(path.string()) + " is there and is no file");
}

}  // namespace

CaptureFile::CaptureFile(const Console& console, std::string path)
    : console_(console), path_(std::move(path)) {
    if (path_.empty()) {
        check_no_terminal(console);
        return;
    }
    check_may_be_replaced(path_);
    scratch_ =
        std::make_unique<TemporaryDirectory>(path_.has_parent_path() ? path_.parent_path() : ".", ".svcctl-");
    file_ = open_file(scratch_->path() / partial, O_WRONLY | O_CREAT | O_EXCL, 0600);
}

void CaptureFile::write(std::string_view bytes) {
    if (scratch_)
        write_all(file_.get(), bytes);
    else
        console_.print(bytes);
    written_ += bytes.size();
}

void CaptureFile::keep(std::uint64_t bytes) {
    if (!scratch_) return;
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0)
        throw system_error("cannot write " + quoted(path_.string()), errno);
    std::filesystem::rename(scratch_->path() / partial, path_);
    console_.print_line(path_.string());
}

}  // namespace svc::cli
