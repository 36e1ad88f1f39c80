#include "libsvc/formats/oci/command.h"

#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr const char* interpreter = "#!/var/lib/svc-agent/bin/svc-agent init\n";

Json texts(const std::vector<std::string>& list) {
    return Json::array(JsonArray(list.begin(), list.end()));
}

bool names_init(const std::string& word) {
    const std::string name = word.substr(word.rfind('/') + 1);
    return name == "init" || name == "systemd";
}

std::optional<unsigned> number_in(std::string_view text) {
    unsigned value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string to_upper(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

// Names that the C library does not give back.
constexpr std::pair<std::string_view, int> synonyms[] = {
    {"CLD", SIGCHLD}, {"IO", SIGIO}, {"IOT", SIGIOT}, {"POLL", SIGPOLL}, {"UNUSED", SIGSYS}};

std::optional<unsigned> plain_signal(std::string_view name) {
    for (const auto& [synonym, number] : synonyms)
        if (name == synonym) return static_cast<unsigned>(number);
    for (int number = 1; number < SIGRTMIN; ++number)
        if (const char* known = ::sigabbrev_np(number); known != nullptr && name == known)
            return static_cast<unsigned>(number);
    return std::nullopt;
}

// "RTMIN", "RTMIN+3", "RTMAX-1", "RTMAX": between the two.
std::optional<unsigned> real_time_signal(std::string_view name) {
    const auto first = static_cast<unsigned>(SIGRTMIN);
    const auto last = static_cast<unsigned>(SIGRTMAX);
    if (name == "RTMIN") return first;
    if (name == "RTMAX") return last;
    const bool upwards = name.starts_with("RTMIN+");
    if (!upwards && !name.starts_with("RTMAX-")) return std::nullopt;
    const auto distance = number_in(name.substr(std::string_view("RTMIN+").size()));
    if (!distance || *distance > last - first) return std::nullopt;
    return upwards ? first + *distance : last - *distance;
}

}  // namespace

OciCommand OciCommand::parse(const std::string& text) {
    const std::size_t end_of_line = text.find('\n');
    if (!text.starts_with("#!") || end_of_line == std::string::npos)
        throw Error(ErrorCode::invalid_argument, "the file does not begin with #! and a program");
    const Json document = Json::parse(text.substr(end_of_line + 1));
    const JsonFields fields(document);
    OciCommand command;
    command.arguments = fields.strings("arguments").value_or(std::vector<std::string>());
    command.environment = fields.strings("environment").value_or(std::vector<std::string>());
    command.directory = fields.string("directory").value_or("");
    command.user = fields.string("user").value_or("");
    command.stop_signal = fields.string("stop_signal").value_or("");
    if (command.arguments.empty()) throw Error(ErrorCode::invalid_argument, "arguments are missing");
    return command;
}

std::string OciCommand::text() const {
    const Json document = Json::object({{"arguments", texts(arguments)},
                                        {"environment", texts(environment)},
                                        {"directory", directory},
                                        {"user", user},
                                        {"stop_signal", stop_signal}});
    return interpreter + document.dump() + "\n";
}

const std::string* OciCommand::init() const {
    if (!arguments.empty() && names_init(arguments[0])) return &arguments[0];
    const bool by_script = arguments.size() > 1 && arguments[1].starts_with('/') && names_init(arguments[1]);
    return by_script ? &arguments[1] : nullptr;
}

int signal_named(const std::string& name) {
    const std::string upper = to_upper(name);
    const std::string short_name = upper.starts_with("SIG") ? upper.substr(3) : upper;
    auto found = plain_signal(short_name);
    if (!found) found = real_time_signal(short_name);
    if (!found) found = number_in(short_name);
    if (!found || *found == 0 || *found > static_cast<unsigned>(SIGRTMAX))
        throw Error(ErrorCode::invalid_argument, quoted(name) + " is no signal");
    return static_cast<int>(*found);
}

}  // namespace svc
