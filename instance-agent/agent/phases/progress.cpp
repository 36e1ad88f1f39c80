#include "instance-agent/agent/phases/progress.h"

#include <fcntl.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"

namespace svc::agent {
namespace {

Json read_state(const std::filesystem::path& file, const std::string& start_key) {
    Json fresh = Json::object({{"start", start_key},
                               {"begun", ""},
                               {"done", Json::array()},
                               {"notes", Json::array()},
                               {"finished", false}});
    try {
        const Json stored = Json::parse(read_file(file));
        const JsonFields fields(stored);
        const bool whole = fields.string("begun") && fields.strings("done") && fields.strings("notes") &&
                           fields.boolean("finished");
        return whole && fields.require_string("start") == start_key ? stored : fresh;
    } catch (const Error&) {
        return fresh;
    }
}

bool holds(const Json& list, const std::string& text) {
    const JsonArray& items = list.as_array();
    return std::find(items.begin(), items.end(), Json(text)) != items.end();
}

}  // namespace

Progress::Progress(std::filesystem::path file, const std::string& start_key)
    : file_(std::move(file)), state_(read_state(file_, start_key)) {}

// The file matters for this start of the container alone, which does not survive a power cut. So the rename
// is not synced: a sync would delay every start.
void Progress::save() const {
    const std::filesystem::path part = file_.string() + ".part";
    write_all(open_file(part, O_WRONLY | O_CREAT | O_TRUNC).get(), state_.dump());
    failpoint("agent.progress_written");
    std::filesystem::rename(part, file_);
    failpoint("agent.progress_saved");
}

void Progress::once(const std::string& what, const std::function<void()>& work) {
    if (holds(state_.at("done"), what)) return;
    if (state_.at("begun").as_string() == what) throw Error(ErrorCode::internal, what + " was interrupted");
    state_.set("begun", what);
    save();
    work();
    failpoint("agent.step_done");
    Json done = state_.at("done");
    done.push_back(what);
    state_.set("done", std::move(done));
    state_.set("begun", "");
    save();
}

void Progress::add_note(const std::string& note) {
    if (holds(state_.at("notes"), note)) return;
    Json all = state_.at("notes");
    all.push_back(note);
    state_.set("notes", std::move(all));
    save();
}

std::vector<std::string> Progress::notes() const {
    std::vector<std::string> result;
    for (const Json& note : state_.at("notes").as_array()) result.push_back(note.as_string());
    return result;
}

void Progress::finish() {
    state_.set("finished", true);
    save();
}

bool Progress::finished() const {
    return state_.at("finished").as_bool();
}

}  // namespace svc::agent
