#include "instance-agent/streamer/client/watcher_answers.h"

#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/error.h"

namespace svc::streamer {

Json nothing_allowed() {
    return Json::object({{"type", "allowed"}, {"to_instance", false}, {"from_instance", false}});
}

std::optional<Json> answer_to_watcher(const std::string& label, const std::string& text) try {
    const Json message = Json::parse(text);
    const JsonFields fields(message);
    const std::string type = fields.require_string("type");
    if (label == clipboard_label && type == "paste")
        return Json::object({{"type", "refused"}, {"message", only_watches}});
    if (label == files_label && (type == "put" || type == "get"))
        return Json::object(
            {{"type", "failed"}, {"id", fields.require_int("id")}, {"message", only_watches}});
    return std::nullopt;
} catch (const Error&) {
    return std::nullopt;  // one that steers gets no answer to it, either
}

}  // namespace svc::streamer
