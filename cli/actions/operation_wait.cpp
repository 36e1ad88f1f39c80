#include "cli/actions/operation_wait.h"

#include "cli/output/values.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

std::string label_of(const Json& operation) {
    const std::string description = text_of(operation, "description");  // "Creating container"
    return description.empty() ? "Waiting" : description;
}

std::optional<int> percent_of(const Json& operation) {
    const Json& percent = member(operation, "metadata.progress.percent");
    if (!percent.is_integer()) return std::nullopt;
    return static_cast<int>(percent.as_int());
}

}  // namespace

Flag timeout_flag() {
    return {"timeout", 't', "DURATION", "cancel when it takes longer than this (5m, 90s; 0: no limit)", "5m"};
}

Flag no_wait_flag() {
    return {"no-wait", 0, "", "do not wait; print the id of the operation"};
}

std::optional<Duration> timeout_of(const Arguments& arguments) {
    const std::string text = arguments.text("timeout");
    if (text == "0") return std::nullopt;
    try {
        const Duration duration = parse_duration(text);
        return duration == Duration::zero() ? std::nullopt : std::optional(duration);
    } catch (const Error&) {
        throw UsageError("--timeout: " + quoted(text) + " is not a duration such as 90s or 5m");
    }
}

Waiting::Waiting(Context& context, const Arguments& arguments, bool may_skip)
    : context_(context), skip_(may_skip && arguments.is_set("no-wait")), line_(context.console()) {
    options_.timeout = timeout_of(arguments);
    if (!skip_) waiter_.emplace(context.client());
}

Json Waiting::wait(const Json& started) {
    Json latest = started;
    options_.on_update = [&latest](const Json& operation) { latest = operation; };
    options_.cancel_requested = [this, &latest] {
        const auto percent = percent_of(latest);
        if (percent)
            line_.show_percent(label_of(latest), *percent);
        else
            line_.show_busy(label_of(latest));
        return Interrupts::requested();
    };
    Json record = waiter_->wait(started.at("id").as_string(), options_);
    line_.clear();
    return record;
}

std::optional<Json> Waiting::finish(const Json& started) {
    line_.clear();
    if (skip_) {
        context_.console().print_line(started.at("id").as_string());
        return std::nullopt;
    }
    Json record = wait(started);
    require_success(record);
    return record;
}

bool Waiting::finish_all(const std::vector<std::pair<std::string, Json>>& started) {
    bool all_well = true;
    for (const auto& [name, operation] : started) {
        try {
            finish(operation);
        } catch (const Error& e) {
            line_.clear();
            if (e.code() == ErrorCode::unavailable) throw;
            context_.console().print_error_line("Error: " + name + ": " + e.what());
            all_well = false;
        }
    }
    return all_well;
}

PackageProgress Waiting::package_progress() {
    return [this](PackagePhase phase, std::uint64_t done, std::uint64_t total) {
        if (Interrupts::requested()) throw Error(ErrorCode::cancelled, "upload cancelled");
        line_.show_bytes(phase == PackagePhase::hashing ? "Checking" : "Uploading", done, total);
    };
}

}  // namespace svc::cli
