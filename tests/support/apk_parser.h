#pragma once
// A program in the place of `aapt`, which any user may run.
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::test {

// `folder` is opened for all: the parser is run by another user.
inline std::filesystem::path fake_apk_parser(const std::filesystem::path& folder, const std::string& script) {
    const auto parser = folder / "aapt";
    write_file_atomically(parser, "#!/bin/sh\n" + script, 0755);
    if (::chmod(folder.c_str(), 0755) != 0) throw Error(ErrorCode::internal, "cannot open a folder");
    return parser;
}

}  // namespace svc::test
