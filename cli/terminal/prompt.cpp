#include "cli/terminal/prompt.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::cli {

void confirm(const Console& console, const std::string& question) {
    while (true) {
        console.print_error(question + " [Y/n]: ");
        const auto line = console.read_line();
        if (!console.in_is_terminal() || !line) console.print_error("\n");
        const std::string answer = line ? to_lower(trim(*line)) : "n";
        if (answer.empty() || answer == "y" || answer == "yes") return;
        if (answer == "n" || answer == "no") throw Error(ErrorCode::cancelled, "aborted");
    }
}

void confirm_removal(const Console& console, const std::vector<std::string>& items) {
    std::string text = "The following will be REMOVED:\n";
    for (const auto& item : items) text += "  " + item + "\n";
    console.print_error(text);
    confirm(console, "Do you want to continue?");
}

}  // namespace svc::cli
