#include "libsvc/model/instances/capture.h"
#include "cli/actions/capture_file.h"
#include "cli/actions/object_lookup.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/terminal/interrupts.h"
#include "cli/terminal/progress.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/captures.h"

namespace svc::cli {
namespace {

int screenshot(Context& context, const Arguments& arguments) {
    CaptureFile file(context.console(), arguments.text("output"));
    take_screenshot(context.client(), instance_named(context.client(), arguments.text("id")),
                    [&](std::string_view bytes) { file.write(bytes); });
    file.keep(file.written());
    return 0;
}

std::chrono::seconds wanted_length(const Arguments& arguments) {
    if (!arguments.given("duration")) return longest_recording;
    const std::string text = arguments.text("duration");
    try {
        const bool bare = text.find_first_not_of("0123456789") == std::string::npos;
        const auto length =
            std::chrono::duration_cast<std::chrono::seconds>(parse_duration(bare ? text + "s" : text));
        if (length.count() >= 1 && length <= longest_recording) return length;
    } catch (const Error&) {
        // The same text as for a length that is too long.
    }
    throw UsageError("--duration: " + quoted(text) + " is not a duration from 1s to 1h");
}

// Keeps what is whole, however the recording ends.
class Recorder {
  public:
    Recorder(Context& context, const Arguments& arguments)
        : file_(context.console(), arguments.text("output")), line_(context.console()) {}
    void take(std::string_view bytes) {
        file_.write(bytes);
        fragments_.take(bytes);
        if (Interrupts::requested() && fragments_.bytes() != 0)  // something to keep comes in a second
            throw Error(ErrorCode::cancelled, "interrupted");
        line_.show_busy("Recording");
    }
    bool keep() {  // false: nothing was recorded
        line_.clear();
        if (fragments_.bytes() != 0) file_.keep(fragments_.bytes());
        return fragments_.bytes() != 0;
    }

  private:
    CaptureFile file_;
    ProgressLine line_;
    WholeFragments fragments_;
};

int record(Context& context, const Arguments& arguments) {
    const auto length = wanted_length(arguments);
    const Interrupts interrupts;
    Recorder recorder(context, arguments);
    const std::string instance = instance_named(context.client(), arguments.text("id"));
    try {
        record_screen(context.client(), instance, length,
                      [&](std::string_view bytes) { recorder.take(bytes); });
    } catch (const Error& e) {
        // Ctrl-C is how a recording without a duration ends.
        const bool kept = recorder.keep();
        if (kept && e.code() == ErrorCode::cancelled) return 0;
        throw;
    }
    if (!recorder.keep()) throw Error(ErrorCode::unavailable, "nothing was recorded");
    return 0;
}

Positional captured_instance() {
    return {"id", "id or name of the instance"};
}

Flag output_flag(const char* name) {
    return {"output", 0, name, "where to; standard output, unless that is a terminal"};
}

}  // namespace

Command screenshot_command() {
    return {
        {"screenshot"},
        {},
        "write a picture of what an instance shows",
        {captured_instance()},
        {output_flag("FILE.png")},
        screenshot,
        "A PNG in the size of the instance's screen. The instance has to stream; nobody has to watch, and "
        "whoever does notices nothing.\n\n"
        "svcctl screenshot <id> --output now.png"};
}

Command record_command() {
    return {{"record"},
            {},
            "record what an instance shows",
            {captured_instance()},
            {output_flag("FILE.mp4"),
             {"duration", 0, "TIME", "90 or 90s, 5m; without it until Ctrl-C, an hour at most"}},
            record,
            "An MP4 (H.264, without sound) that browsers play. Ctrl-C ends it, and so does a change of the "
            "screen's size; what was recorded is kept. One recording of an instance at a time.\n\n"
            "svcctl record <id> --output bug.mp4 --duration 30s"};
}

}  // namespace svc::cli
