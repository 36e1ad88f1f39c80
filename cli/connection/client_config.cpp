#include "cli/connection/client_config.h"

#include <unistd.h>

#include <algorithm>
#include <climits>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

std::string host_name() {
    char name[HOST_NAME_MAX + 1] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "svcctl";
}

}  // namespace

Config::Config(std::filesystem::path directory) : directory_(std::move(directory)) {
    remotes_.push_back({std::string(local_remote), "unix://" + std::string(default_socket), ""});
    with_context(quoted((directory_ / "remotes.json").string()), [&] { load(); });
}

void Config::load() {
    const auto file = directory_ / "remotes.json";
    if (directory_.empty() || !std::filesystem::exists(file)) return;
    const Json stored = Json::parse(read_file(file));
    const JsonFields fields(stored);
    for (const JsonFields& remote : fields.objects("remotes").value_or(std::vector<JsonFields>()))
        remotes_.push_back({remote.require_string("name"), remote.require_string("url"),
                            remote.string("server_fingerprint").value_or("")});
    default_ = fields.string("default").value_or(std::string(local_remote));
}

void Config::save() const {
    if (directory_.empty()) throw Error(ErrorCode::invalid_argument, "no home directory to keep remotes in");
    Json remotes = Json::array();
    for (const Remote& remote : remotes_) {
        if (remote.name == local_remote) continue;
        remotes.push_back(Json::object(
            {{"name", remote.name}, {"url", remote.url}, {"server_fingerprint", remote.server_fingerprint}}));
    }
    make_directories(directory_);
    write_file_atomically(directory_ / "remotes.json",
                          Json::object({{"default", default_}, {"remotes", remotes}}).dump_pretty() + "\n");
}

const Remote* Config::find(std::string_view name) const {
    const auto found =
        std::find_if(remotes_.begin(), remotes_.end(), [&](const Remote& r) { return r.name == name; });
    return found == remotes_.end() ? nullptr : &*found;
}

const Remote& Config::get(std::string_view name) const {
    const Remote* remote = find(name);
    if (remote == nullptr) throw Error(ErrorCode::not_found, "remote " + quoted(name) + " not found");
    return *remote;
}

Remote& Config::own(std::string_view name) {
    if (name == local_remote) throw Error(ErrorCode::invalid_argument, "remote 'local' cannot be changed");
    return remotes_.at(static_cast<std::size_t>(&get(name) - remotes_.data()));
}

void Config::add(Remote remote) {
    if (find(remote.name) != nullptr)
        throw Error(ErrorCode::conflict, "remote " + quoted(remote.name) + " already exists");
    remotes_.push_back(std::move(remote));
    save();
}

void Config::remove(std::string_view name) {
    const std::string gone = own(name).name;
    std::erase_if(remotes_, [&](const Remote& r) { return r.name == gone; });
    if (default_ == gone) default_ = local_remote;
    save();
}

void Config::set_default(std::string_view name) {
    default_ = get(name).name;
    save();
}

void Config::set_url(std::string_view name, const std::string& url, const std::string& fingerprint) {
    Remote& remote = own(name);
    remote.url = url;
    remote.server_fingerprint = fingerprint;
    save();
}

KeyPair Config::key_pair() const {
    if (directory_.empty())
        throw Error(ErrorCode::invalid_argument, "no home directory to keep a client key in");
    KeyPair files{directory_ / "client.crt", directory_ / "client.key"};
    make_directories(directory_);
    ensure_key_pair(files, host_name(), {}, {}, SystemClock());
    return files;
}

}  // namespace svc::cli
