#pragma once
// Finds the object that a user means by a name, an id or the beginning of an id. The service itself takes
// whole ids alone.
#include <string>
#include <vector>

#include "libsvc/client/api_client.h"

namespace svc::cli {

enum class Noun { instance, application, image, addon, node, operation };

struct Named {
    Noun noun = Noun::instance;
    std::string id;  // the text as given when the service knows it, else the whole id
};

// The object with this id or name, of the first noun in `nouns` that has one; else the only object whose id
// begins with `text` (at least three characters). Throws not_found, which names the nearest name, and
// conflict, which lists the ids that begin with `text`.
Named find_named(ApiClient& client, const std::vector<Noun>& nouns, const std::string& text);

// The same for one noun.
std::string instance_named(ApiClient& client, const std::string& text);
std::string application_named(ApiClient& client, const std::string& text);
std::string image_named(ApiClient& client, const std::string& text);
std::string addon_named(ApiClient& client, const std::string& text);
std::string node_named(ApiClient& client, const std::string& text);
std::string operation_named(ApiClient& client, const std::string& text);

}  // namespace svc::cli
