#include <algorithm>
#include <charconv>

#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/command_line/version_flag.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"
#include "cli/terminal/progress.h"
#include "cli/views/application_view.h"
#include "cli/views/instance_view.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/event_stream.h"

namespace svc::cli {
namespace {

constexpr std::chrono::milliseconds event_poll{100};
constexpr std::chrono::seconds reconnect_grace{15};
constexpr std::chrono::milliseconds follow_again_pause{250};
constexpr std::chrono::seconds record_refresh{2};  // how often the record is read: some changes have no event

// The object that is waited for, and how its state is read.
struct Subject {
    std::string kind;  // "instance", "image", "operation"
    std::function<Json()> read;
    std::vector<std::string> keys;
    std::string goal;  // the condition that counts when none is given
};

// One version of an application, for `-s version=N`. The version may not exist yet.
Json version_record(const Json& application, int number) {
    for (const Json& version : items_of(application, "versions"))
        if (number_of(version, "number") == number) return version;
    return Json::object({{"status", "not there yet"}});
}

Subject version_subject(ApiClient& client, const std::string& id, int number) {
    return {"application version",
            [&client, id, number] { return version_record(client.application(id), number); },
            {"status", "published"},
            "active"};
}

Subject find_subject(ApiClient& client, const Named& named) {
    const std::string& id = named.id;
    switch (named.noun) {
        case Noun::instance:
            return {"instance", [&client, id] { return client.instance(id); }, instance_condition_keys(),
                    "running"};
        case Noun::application:
            return {"application", [&client, id] { return client.application(id); },
                    application_condition_keys(), "ready"};
        case Noun::image:
            return {"image", [&client, id] { return client.image(id); }, {"status"}, "active"};
        default:
            return {"operation", [&client, id] { return client.operation(id); }, {"status"}, "Success"};
    }
}

// Only operations have UUIDs as ids.
Named find_object(ApiClient& client, const std::string& text, bool version) {
    if (is_uuid(text)) return {Noun::operation, text};
    if (version) return {Noun::application, application_named(client, text)};
    return find_named(client, {Noun::instance, Noun::application, Noun::image, Noun::operation}, text);
}

// "version=3".
std::optional<int> selected_version(const Arguments& arguments) {
    if (!arguments.given("selector")) return std::nullopt;
    const auto selector = parse_conditions({arguments.text("selector")}, {"version"}, "selector");
    std::int64_t number = -1;
    const std::string& text = selector.front().value;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return parse_version("--selector version", number);
}

bool is_met(const Subject& subject, const Json& record, const std::vector<Condition>& conditions) {
    return std::any_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
        if (subject.kind == "instance") return instance_matches(record, condition);
        if (subject.kind == "application") return application_matches(record, condition);
        return iequals(text_of(record, condition.key), condition.value);
    });
}

// Ends the wait when the object has failed, unless the condition is that failure.
void refuse_failed(const Subject& subject, const std::string& id, const Json& record) {
    const bool ended = subject.kind == "operation" && operation_is_final(record);
    if (!ended && text_of(record, "status") != "error") return;
    std::string reason = text_of(record, subject.kind == "operation" ? "err" : "error_message");
    if (reason.empty() && subject.kind == "application" && !items_of(record, "versions").empty())
        reason = text_of(items_of(record, "versions").back(), "error_message");
    if (reason.empty()) reason = "its status is " + text_of(record, "status");
    throw Error(ErrorCode::internal, subject.kind + " " + quoted(id) + ": " + reason);
}

class ConditionWait {
  public:
    ConditionWait(Context& context, const Arguments& arguments)
        : timeout_(timeout_of(arguments)), line_(context.console()), target_(context.target()) {
        events_.emplace(target_, "lifecycle,operation");
        const auto version = selected_version(arguments);
        const Named named = find_object(context.client(), arguments.text("id"), version.has_value());
        id_ = named.id;
        subject_ = version ? version_subject(context.client(), id_, *version)
                           : find_subject(context.client(), named);
        object_id_ = text_of(version ? context.client().application(id_) : subject_.read(), "id");
        conditions_ = parse_conditions(arguments.list("condition"), subject_.keys, "condition");
        if (conditions_.empty()) conditions_ = {{"status", subject_.goal}};
    }

    void run() {
        while (!step()) {
        }
    }

  private:
    // Checks the condition once and waits once; true when it holds. A service that is unreachable meanwhile
    // is retried.
    bool step() {
        try {
            if (!events_) events_.emplace(target_, "lifecycle,operation");
            const auto record = read();
            lost_since_.reset();
            if (!record || is_met(subject_, *record, conditions_)) return true;
            refuse_failed(subject_, id_, *record);
            status_ = text_of(*record, "status");
            await_change();
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable) throw;
            events_.reset();
            const SteadyTime now = clock_.steady_now();
            if (!lost_since_) lost_since_ = now;
            if (now - *lost_since_ > reconnect_grace) throw;
            clock_.wait({}, follow_again_pause);
        }
        return false;
    }

    // Nothing: the object was removed, and that was waited for.
    std::optional<Json> read() {
        try {
            return subject_.read();
        } catch (const Error& e) {
            const bool wanted = std::any_of(conditions_.begin(), conditions_.end(), [](const Condition& c) {
                return c.key == "status" && c.value == "deleted";
            });
            if (e.code() != ErrorCode::not_found || !wanted) throw;
            return std::nullopt;
        }
    }

    // Events name objects by id, users often by name: compares both.
    bool is_about_subject(const std::string& event) const {
        return event.find(id_) != std::string::npos ||
               (!object_id_.empty() && event.find(object_id_) != std::string::npos);
    }

    void await_change() {
        const SteadyTime since = clock_.steady_now();
        while (clock_.steady_now() - since < record_refresh) {
            if (timeout_ && clock_.steady_now() - started_ >= *timeout_)
                throw Error(ErrorCode::cancelled,
                            "timeout: " + subject_.kind + " " + quoted(id_) + " is " + status_);
            line_.show_busy("Waiting, " + subject_.kind + " is " + status_);
            const auto event = events_->next(event_poll);
            if (event && is_about_subject(event->dump())) return;
        }
    }

    std::string id_, object_id_, status_;
    std::optional<Duration> timeout_;
    ProgressLine line_;
    SystemClock clock_;
    const SteadyTime started_ = clock_.steady_now();
    std::optional<SteadyTime> lost_since_;
    Target target_;
    std::optional<EventStream> events_;
    Subject subject_;
    std::vector<Condition> conditions_;
};

int wait(Context& context, const Arguments& arguments) {
    ConditionWait(context, arguments).run();
    return 0;
}

}  // namespace

Command wait_command() {
    return {{"wait"},
            {},
            "wait for an instance, application, image or operation to reach a state",
            {{"id", "id or name of the instance, application, image or operation"}},
            {{"condition", 'c', "KEY=VALUE", "what to wait for; of several, any", "", {}, true},
             {"selector", 's', "version=N", "of an application: wait for this version"},
             {"timeout", 't', "DURATION", "give up after this time (5m, 90s; 0: never)", "5m"}},
            wait,
            "Without a condition: until an instance is running, an application ready, a version or image "
            "active,\n"
            "an operation a success.\n"
            "status=deleted waits until the object is gone.\n\n"
            "Keys of an instance: " +
                join(instance_condition_keys(), ", ") +
                "; of an application: " + join(application_condition_keys(), ", ") +
                ";\nof a version: status, published; of an image or operation: status."};
}

}  // namespace svc::cli
