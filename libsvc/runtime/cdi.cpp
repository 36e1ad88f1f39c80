#include "libsvc/runtime/cdi.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/yaml.h"

namespace svc {

namespace {

constexpr std::size_t max_cdi_bytes = std::size_t{4} << 20;
constexpr std::string_view dri = "/dev/dri/";

// A name that can stand in a configuration, and leads where it says.
std::string checked_path(const JsonFields& fields, const char* key, const std::string& path) {
    const auto parts = split(path, '/');
    const bool clean = std::ranges::none_of(path, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (!path.starts_with('/') || path.find_first_not_of('/') == std::string::npos || !clean ||
        std::ranges::find(parts, "..") != parts.end())
        throw_invalid(fields.path_of(key), quoted(path) + " is not an absolute path");
    return path;
}

std::string host_of(const JsonFields& fields, const std::string& path) {
    return checked_path(fields, "hostPath", fields.string("hostPath").value_or(path));
}

CdiNode read_node(const JsonFields& fields) {
    const std::string path = checked_path(fields, "path", fields.require_string("path"));
    if (!path.starts_with("/dev/"))
        throw_invalid(fields.path_of("path"), quoted(path) + " is not below /dev");
    return {path, host_of(fields, path)};
}

CdiMount read_mount(const JsonFields& fields) {
    return {checked_path(fields, "containerPath", fields.require_string("containerPath")),
            checked_path(fields, "hostPath", fields.require_string("hostPath"))};
}

void check_environment(const JsonFields& fields, const std::vector<std::string>& variables) {
    for (const std::string& variable : variables) {
        const bool clean =
            std::ranges::none_of(variable, [](unsigned char c) { return c < ' ' || c == 0x7f; });
        if (!clean || variable.find('=') == std::string::npos || variable.starts_with('='))
            throw_invalid(fields.path_of("env"), quoted(variable) + " is not NAME=value");
    }
}

CdiEdits read_edits(const JsonFields& parent) {
    CdiEdits edits;
    const auto fields = parent.object("containerEdits");
    if (!fields) return edits;
    for (const JsonFields& node : fields->objects("deviceNodes").value_or(std::vector<JsonFields>()))
        edits.nodes.push_back(read_node(node));
    for (const JsonFields& mount : fields->objects("mounts").value_or(std::vector<JsonFields>()))
        edits.mounts.push_back(read_mount(mount));
    edits.environment = fields->strings("env").value_or(std::vector<std::string>());
    check_environment(*fields, edits.environment);
    return edits;
}

template <class Item>
void add_each(std::vector<Item>& all, const std::vector<Item>& more) {
    for (const Item& item : more)
        if (std::ranges::find(all, item) == all.end()) all.push_back(item);
}

void add_all(CdiEdits& all, const CdiEdits& more) {
    for (const CdiNode& node : more.nodes)  // a card can do more than a render device
        if (!node.path.starts_with(dri)) add_each(all.nodes, {node});
    add_each(all.mounts, more.mounts);
    add_each(all.environment, more.environment);
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(folder, absent))
        if (entry.path().extension() == ".json" || entry.path().extension() == ".yaml")
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

}  // namespace

CdiDevices::CdiDevices(const std::vector<std::filesystem::path>& folders) {
    for (const std::filesystem::path& folder : folders)
        for (const std::filesystem::path& file : files_in(folder)) try {
                read(file);
            } catch (const Error& e) {
                faults_[file] = e.what();
            }
}

void CdiDevices::read(const std::filesystem::path& file) {
    const Json document = parse_yaml(read_file(file, max_cdi_bytes));  // which JSON is, too
    const JsonFields fields(document);
    const std::string kind = fields.require_string("kind");
    const CdiEdits common = read_edits(fields);
    std::map<std::string, Device> found;
    for (const JsonFields& one : fields.objects("devices").value_or(std::vector<JsonFields>())) {
        Device device{{}, read_edits(one), common};
        for (const CdiNode& node : device.own.nodes) device.paths.push_back(node.path);
        found.insert_or_assign(kind + "=" + one.require_string("name"), std::move(device));
    }
    for (auto& [name, device] : found) devices_.insert_or_assign(name, std::move(device));
}

std::string CdiDevices::device_of(const std::string& gpu) const {
    const std::string wanted = std::string(dri) + "render" + gpu;
    const std::pair<const std::string, Device>* best = nullptr;
    for (const auto& named : devices_) {
        const std::vector<std::string>& paths = named.second.paths;
        if (std::ranges::find(paths, wanted) == paths.end()) continue;
        if (best == nullptr || paths.size() < best->second.paths.size()) best = &named;
    }
    return best == nullptr ? "" : best->first;
}

CdiEdits CdiDevices::edits(const std::vector<std::string>& gpus) const {
    CdiEdits all;
    for (const std::string& gpu : gpus) {
        const auto found = devices_.find(device_of(gpu));
        if (found == devices_.end()) continue;
        add_all(all, found->second.common);
        add_all(all, found->second.own);
    }
    return all;
}

Json CdiDevices::described(const std::vector<std::string>& gpus) const {
    Json text = Json::object();
    for (const std::string& gpu : gpus)
        if (std::string device = device_of(gpu); !device.empty()) text.set(gpu, std::move(device));
    for (const auto& [file, fault] : faults_) text.set(file, fault);
    return text;
}

}  // namespace svc
