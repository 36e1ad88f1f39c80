#include "libsvc/formats/oci/command.h"

#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

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
    const std::string short_name = name.starts_with("SIG") ? name.substr(3) : name;
    for (int number = 1; number < SIGRTMIN; ++number)
        if (const char* known = ::sigabbrev_np(number); known != nullptr && short_name == known)
            return number;
    constexpr std::string_view real_time = "RTMIN+";
    const bool is_real_time = short_name.starts_with(real_time);
    const auto number = number_in(is_real_time ? short_name.substr(real_time.size()) : short_name);
    const unsigned first = is_real_time ? static_cast<unsigned>(SIGRTMIN) : 0U;
    if (!number || *number > static_cast<unsigned>(SIGRTMAX) - first || first + *number == 0)
        throw Error(ErrorCode::invalid_argument, quoted(name) + " is no signal");
    return static_cast<int>(first + *number);
}

}  // namespace svc
