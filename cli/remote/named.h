#pragma once
// From what the user calls an object to what the service calls it. Ids may be abbreviated here, and nowhere
// else: to the service an id is whole.
#include <string>
#include <vector>

#include "libsvc/client/api_client.h"

namespace svc::cli {

enum class Noun { instance, application, image, addon, node, operation };

struct Named {
    Noun noun = Noun::instance;
    std::string id;  // as given where the service knows it like that, else whole
};

// The object with this id or name, of the first of `nouns` that has one; else the only one whose id begins
// with `text` (at least three characters). Throws not_found, with the name that is nearest, and conflict with
// the ids that begin so.
Named find_named(ApiClient& client, const std::vector<Noun>& nouns, const std::string& text);

// The same for one noun.
std::string instance_named(ApiClient& client, const std::string& text);
std::string application_named(ApiClient& client, const std::string& text);
std::string image_named(ApiClient& client, const std::string& text);
std::string addon_named(ApiClient& client, const std::string& text);
std::string node_named(ApiClient& client, const std::string& text);
std::string operation_named(ApiClient& client, const std::string& text);

}  // namespace svc::cli
