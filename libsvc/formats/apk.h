#pragma once
// What the package of an Android application (APK) says about itself, as Debian's `aapt` reads it
// (docs/applications.md, "What an APK says").
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

struct ApkFacts {
    std::string package;                   // com.example.candy
    std::string activity;                  // the one that a launcher shows: com.example.candy.Main; or ""
    std::vector<std::string> abis;         // of its native code, as Android names them; none: it has none
    std::vector<std::string> permissions;  // that it asks for, each once
};

// Takes the output of `aapt dump badging`. All names are the APK's own: any text without quotes and line
// breaks. Throws invalid_argument when it names no package.
ApkFacts parse_badging(std::string_view text);

// An APK is a stranger's file: the parser runs confined (Confinement in base/processes/process.h), sees the
// APK as its standard input, and is killed with all that it started when its time is over. One runs at a
// time. Thread-safe.
class ApkReader {
  public:
    explicit ApkReader(std::filesystem::path parser,
                       std::chrono::milliseconds limit = std::chrono::seconds(10))
        : parser_(std::move(parser)), limit_(limit) {}
    ApkReader(const ApkReader&) = delete;
    ApkReader& operator=(const ApkReader&) = delete;

    bool installed() const;
    // `apk` is an open file that anybody may read. Throws unavailable when the parser does not end;
    // invalid_argument when it fails, with the first line of what it says; not_found when it is not there.
    ApkFacts read(int apk) const;

  private:
    const std::filesystem::path parser_;
    const std::chrono::milliseconds limit_;
    mutable std::mutex turn_;
};

}  // namespace svc
