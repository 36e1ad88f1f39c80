#include "instance-agent/agent/files/state_file.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::agent {

StateFile::StateFile(std::filesystem::path file, std::string scope)
    : file_(std::move(file)), scope_(std::move(scope)) {}

Json StateFile::load() const try {
    const Json stored = Json::parse(read_file(file_));
    const JsonFields fields(stored);
    const Json* state = fields.raw("state");
    if (fields.string("scope").value_or("") != scope_ || state == nullptr || !state->is_object())
        return Json::object();
    return *state;
} catch (const Error& e) {
    if (e.code() != ErrorCode::not_found)
        log::warning("state is lost", {{"file", file_.string()}, {"error", e.what()}});
    return Json::object();
}

void StateFile::save(const Json& state) const {
    make_directories(file_.parent_path());
    write_file_atomically(file_, Json::object({{"scope", scope_}, {"state", state}}).dump());
}

}  // namespace svc::agent
