#pragma once
// Files of a running instance (API extension instance_files, docs/files.md): svc-agent in the instance sends
// and takes them, as the instance's root, over the streams of a command.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/client/api_client.h"
#include "libsvc/formats/tree_stream.h"

namespace svc {

// `path` itself, as "", then what is in it. Blocks. Throws what the service answers, not_found.
std::vector<TreeFile> list_instance_files(ApiClient& client, std::string_view instance,
                                          const std::string& path, TreeDepth depth);

struct TransferOptions {
    bool resume = false;  // leaves out files that are there with the same size and time
    TreeOwner owner{};    // of what is pushed
    std::function<void(std::uint64_t done, std::uint64_t total)> progress{};  // bytes; a total of 0: unknown
};

// A file or folder of this machine to `target` in the instance, and the other way round. A target that is a
// folder, or ends with "/", gets it under its own name; else it is the new name. The folder that holds the
// target must exist. What is in a folder already stays, files of the same names are replaced. What was
// completed before an error stays. One thread per call; blocks. Throws what the service answers, not_found,
// and what take_tree() throws.
void push_files(ApiClient& client, std::string_view instance, const std::filesystem::path& source,
                const std::string& target, const TransferOptions& options);
void pull_files(ApiClient& client, std::string_view instance, const std::string& source,
                const std::filesystem::path& target, const TransferOptions& options);

}  // namespace svc
