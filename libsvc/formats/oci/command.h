#pragma once
// The first program of an image that was made of an OCI image (docs/oci.md): the text of the file that says
// it. Pure functions.
#include <string>
#include <vector>

namespace svc {

// The place of the file in the image. Its first line names svc-agent, which is in every instance.
constexpr const char* oci_init_path = "/.svc-init";

struct OciCommand {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // made where it is missing; "": the root
    std::string user;                      // "name", "id", "name:group" ...; "": root
    std::string stop_signal;               // as signal_named() takes it; "": SIGTERM

    static OciCommand parse(const std::string& text);  // throws invalid_argument
    std::string text() const;

    // The word that names an init (".../init", ".../systemd"), which wants to be the first process itself:
    // the first one, or the second one as an absolute path, which is started by a script that replaces
    // itself. nullptr where neither does.
    const std::string* init() const;
};

// The number of a signal that is named so ("SIGTERM", "rtmin+3", "SIGRTMAX-1", "CLD", "15"). Throws
// invalid_argument.
int signal_named(const std::string& name);

}  // namespace svc
