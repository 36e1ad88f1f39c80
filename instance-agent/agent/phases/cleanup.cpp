#include "instance-agent/agent/phases/cleanup.h"

#include <fnmatch.h>

#include "libsvc/base/file.h"

namespace svc::agent {
namespace {

namespace fs = std::filesystem;

// "./data/" means "data".
std::string clean_pattern(const std::string& pattern) {
    std::string text = pattern;
    while (text.starts_with("./")) text.erase(0, 2);
    while (text.ends_with('/')) text.pop_back();
    return text;
}

class Cleaner {
  public:
    Cleaner(fs::path app, const std::vector<std::string>& keep)
        : app_(std::move(app)), keep_{"manifest.yaml", "hooks"} {
        for (const std::string& pattern : keep) keep_.push_back(clean_pattern(pattern));
    }

    // True when the folder is empty afterwards.
    bool clean(const fs::path& directory) {
        std::vector<fs::path> entries;
        for (const auto& entry : fs::directory_iterator(directory)) entries.push_back(entry.path());
        bool empty = true;
        for (const fs::path& entry : entries) empty = clean_entry(entry) && empty;
        return empty;
    }

  private:
    bool clean_entry(const fs::path& entry) {
        if (is_kept(entry.lexically_relative(app_))) return false;
        if (fs::is_directory(fs::symlink_status(entry)) && !clean(entry)) return false;
        fs::remove(entry);
        return true;
    }

    bool is_kept(const fs::path& path) const {
        for (const std::string& pattern : keep_)
            if (::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0) return true;
        return false;
    }

    fs::path app_;
    std::vector<std::string> keep_;
};

}  // namespace

void clean_app(const fs::path& app, const std::vector<std::string>& keep) {
    if (fs::is_directory(fs::symlink_status(app))) Cleaner(app, keep).clean(app);
}

void clean_own(const Paths& paths) {
    for (const fs::path& own :
         {paths.logs(), paths.downloads(), paths.fetched(), paths.progress(), paths.state()})
        if (fs::exists(fs::symlink_status(own))) remove_tree(own);
}

}  // namespace svc::agent
