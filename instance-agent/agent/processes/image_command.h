#pragma once
// svc-agent init FILE: the first program of an image that was made of an OCI image (docs/oci.md).
#include <string>
#include <vector>

namespace svc::agent {

// The ids of `user` by the texts of /etc/passwd and /etc/group. A user that is a number needs no line there.
struct ImageUser {
    unsigned uid = 0;
    unsigned gid = 0;
    std::vector<unsigned> groups;  // all, gid among them
    std::string home = "/";
};
// Throws not_found naming the user or the group.
ImageUser find_image_user(const std::string& user, const std::string& passwd, const std::string& group);

// Runs the program of the file (libsvc/formats/oci/command.h) below a small init; becomes it where it is an
// init itself (/sbin/init, systemd). Returns its exit status. Throws naming what does not work.
int run_image_command(const std::vector<std::string>& words);

}  // namespace svc::agent
