// Commands that send local files into an instance, or write a local file.
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/actions/agent_ctl.h"
#include "cli/commands/commands.h"
#include "cli/tracks/track.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr std::size_t most_track = 256U << 20;

Positional one_running_instance() {
    return {"id", "id or name of the instance"};
}

double positive(const Arguments& arguments, const std::string& flag) {
    const std::string text = arguments.text(flag);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !(number > 0) || number > 1e6)
        throw UsageError("--" + flag + ": expected a number above 0");
    return number;
}

// False: the reader has gone. Uses a socket, because a closed pipe raises SIGPIPE.
bool send_line(int socket, const std::string& line) {
    std::string_view left = line;
    while (!left.empty()) {
        const ssize_t sent = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

// Blocks signals here: the thread that forwards them takes them.
void leave_signals_alone() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void play(const std::vector<ReplayStep>& steps, FileDescriptor to, const std::stop_token& stop) {
    SystemClock clock;
    const SteadyTime begin = clock.steady_now();
    for (const ReplayStep& step : steps) {
        const Duration early = begin + step.after - clock.steady_now();
        if (early > Duration::zero() && !clock.wait(stop, early)) return;
        if (stop.stop_requested() || !send_line(to.get(), step.update.dump() + "\n")) return;
    }
}

int replay(Context& context, const Arguments& arguments) {
    const double speed = positive(arguments, "speed");
    const std::string file = arguments.text("file");
    const Track track = with_context(file, [&] { return read_track(file, read_file(file, most_track)); });
    if (track.skipped > 0)
        context.console().print_error_line(std::to_string(track.skipped) + " lines could not be read");
    const auto steps = plan_replay(track, speed);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw system_error("cannot make a socket", errno);
    FileDescriptor from(ends[0]), to(ends[1]);
    const std::string id = arguments.text("id");
    if (const int status = run_ctl(context, id, ctl_command({"location", "enable"})); status != 0)
        return status;
    std::jthread player([&steps, to = std::move(to)](const std::stop_token& stop) mutable {
        leave_signals_alone();
        play(steps, std::move(to), stop);
    });
    const int status = run_ctl(context, id, ctl_command({"location", "feed"}), {from.get(), -1});
    from.reset();  // ends a player that blocks in a send
    return status;
}

int send_image(Context& context, const Arguments& arguments) {
    const FileDescriptor image = open_file(arguments.text("file"), O_RDONLY);
    return run_ctl(context, arguments.text("id"), ctl_command({"camera", "image"}, {"-"}), {image.get(), -1});
}

std::string find_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
        const auto file = std::filesystem::path(folder) / name;
        if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file.string();
    }
    throw Error(ErrorCode::unsupported, name + " is not installed on this machine; it decodes video files");
}

// "1280x720" as ffmpeg's filter wants it.
std::string scale_of(const Arguments& arguments) {
    const auto parts = split(arguments.text("size"), 'x');
    const bool numbers =
        parts.size() == 2 && arguments.text("size").find_first_not_of("0123456789x") == std::string::npos;
    if (!numbers || parts[0].empty() || parts[1].empty()) throw UsageError("--size: expected WIDTHxHEIGHT");
    return "scale=" + parts[0] + ":" + parts[1];
}

SpawnOptions ffmpeg(const Arguments& arguments, int out, int err) {
    const std::string file = arguments.text("file");
    SpawnOptions options;
    options.arguments = {find_program("ffmpeg"), "-nostdin", "-loglevel", "error"};
    if (arguments.is_set("loop")) options.arguments.insert(options.arguments.end(), {"-stream_loop", "-1"});
    options.arguments.insert(options.arguments.end(),
                             {"-re", "-i", "file:" + file, "-an", "-vf", scale_of(arguments)});
    if (arguments.given("fps"))
        options.arguments.insert(options.arguments.end(), {"-r", std::to_string(positive(arguments, "fps"))});
    options.arguments.insert(options.arguments.end(), {"-pix_fmt", "rgba", "-f", "rawvideo", "pipe:1"});
    options.descriptors = {{out, 1}, {err, 2}};
    return options;
}

int send_video(Context& context, const Arguments& arguments) {
    (void)open_file(arguments.text("file"), O_RDONLY);  // throws a clear error when the file is absent
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
    FileDescriptor frames(ends[0]), theirs(ends[1]);
    Child decoder(ffmpeg(arguments, theirs.get(), context.console().err()));
    theirs.reset();
    const int status =
        run_ctl(context, arguments.text("id"), ctl_command({"camera", "stream"}), {frames.get(), -1});
    frames.reset();
    if (status != 0) return status;
    if (decoder.wait().code != 0) throw Error(ErrorCode::invalid_argument, "ffmpeg cannot play the file");
    return 0;
}

int stop_trace(Context& context, const Arguments& arguments) {
    const std::string id = arguments.text("id");
    if (!arguments.given("output")) return run_ctl(context, id, ctl_command({"trace", "stop"}));
    const std::filesystem::path target = arguments.text("output");
    const std::filesystem::path part = target.string() + ".part";
    const FileDescriptor file = open_file(part, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    struct Removal {
        const std::filesystem::path& file;
        ~Removal() {
            std::error_code ignored;
            std::filesystem::remove(file, ignored);
        }
    } const removal{part};
    const int status = run_ctl(context, id, ctl_command({"trace", "stop", "--output=-"}), {-1, file.get()});
    if (status == 0) std::filesystem::rename(part, target);
    return status;
}

}  // namespace

std::vector<Command> instance_media_commands() {
    return {
        {{"instance", "location", "replay"},
         {},
         "let an instance move as a GPX file or an NMEA log says",
         {one_running_instance(), {"file", "FILE.gpx or FILE.nmea"}},
         {{"speed", 0, "FACTOR", "2 is twice as fast as it was recorded", "1"}},
         replay,
         "Injection is switched on and stays on. Points without a time come a second after the one before."},
        {{"instance", "camera", "image"},
         {},
         "show a picture to the camera",
         {one_running_instance(), {"file", "a JPEG of one of the camera's sizes"}},
         {},
         send_image},
        {{"instance", "camera", "video"},
         {},
         "show a video to the camera, until its end",
         {one_running_instance(), {"file", "whatever ffmpeg on this machine plays"}},
         {{"size", 0, "WxH", "what the guest has opened the camera with", "1280x720"},
          {"fps", 0, "N", "frames a second (those of the file when not given)"},
          {"loop", 0, "", "again and again"}},
         send_video,
         "The camera is switched on and stays on."},
        {{"instance", "trace", "stop"},
         {},
         "end a recording and write it down",
         {one_running_instance()},
         {{"output", 0, "FILE", "fetch it to this machine"}},
         stop_trace}};
}

}  // namespace svc::cli
