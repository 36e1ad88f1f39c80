#include "cli/actions/object_lookup.h"

#include <algorithm>
#include <array>
#include <optional>

#include "cli/command_line/suggestion.h"
#include "cli/output/values.h"
#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr std::size_t least_abbreviation = 3;
constexpr std::size_t most_candidates = 10;  // listed in an error

struct NounRequests {
    std::string_view word;
    Json (ApiClient::*read)(std::string_view text);
    JsonArray (ApiClient::*list)();
};
// In the order of the enumeration Noun.
constexpr std::array kinds{
    NounRequests{"instance", &ApiClient::instance, &ApiClient::instances},
    NounRequests{"application", &ApiClient::application, &ApiClient::applications},
    NounRequests{"image", &ApiClient::image, &ApiClient::images},
    NounRequests{"addon", &ApiClient::addon, &ApiClient::addons},
    NounRequests{"node", &ApiClient::node, &ApiClient::nodes},
    NounRequests{"operation", &ApiClient::operation, &ApiClient::operations},
};

const NounRequests& requests_of(Noun noun) {
    return kinds.at(static_cast<std::size_t>(noun));
}

// The service's not_found error; nothing when the object exists.
std::optional<std::string> refusal(ApiClient& client, Noun noun, const std::string& text) {
    try {
        (client.*requests_of(noun).read)(text);
        return std::nullopt;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return e.what();
    }
}

// "no application or image 'x'"
std::string none_of(const std::vector<Noun>& nouns, const std::string& text) {
    std::string words;
    for (std::size_t i = 0; i < nouns.size(); ++i)
        words.append(i == 0 ? "" : i + 1 < nouns.size() ? ", " : " or ").append(requests_of(nouns[i]).word);
    return "no " + words + " " + quoted(text);
}

std::string several(const std::string& text, std::vector<std::string> ids) {
    const std::size_t count = ids.size();
    ids.resize(std::min(count, most_candidates));
    return quoted(text) + " is the beginning of " + std::to_string(count) + " ids: " + join(ids, ", ") +
           (count > ids.size() ? ", ..." : "");
}

// The ids of this noun that begin with `text`; adds the names of all its objects to `names`.
std::vector<std::string> ids_beginning(ApiClient& client, Noun noun, const std::string& text,
                                       std::vector<std::string>& names) {
    std::vector<std::string> ids;
    for (const Json& record : (client.*requests_of(noun).list)()) {
        const std::string id = text_of(record, "id");
        const std::string name = text_of(record, "name");
        if (!name.empty()) names.push_back(name);
        if (text.size() >= least_abbreviation && id.starts_with(text)) ids.push_back(id);
    }
    return ids;
}

Named find_abbreviated(ApiClient& client, const std::vector<Noun>& nouns, const std::string& text,
                       const std::string& not_found) {
    std::vector<std::string> names;
    for (const Noun noun : nouns) {
        const std::vector<std::string> ids = ids_beginning(client, noun, text, names);
        if (ids.size() > 1) throw Error(ErrorCode::conflict, several(text, ids));
        if (!ids.empty()) return {noun, ids.front()};
    }
    throw Error(ErrorCode::not_found, not_found + suggestion(text, names));
}

std::string one_named(ApiClient& client, Noun noun, const std::string& text) {
    const bool whole = noun == Noun::operation ? is_uuid(text) : is_object_id(text);
    return whole ? text : find_named(client, {noun}, text).id;
}

}  // namespace

Named find_named(ApiClient& client, const std::vector<Noun>& nouns, const std::string& text) {
    std::string not_found;
    for (const Noun noun : nouns) {
        const auto refused = refusal(client, noun, text);
        if (!refused) return {noun, text};
        not_found = *refused;
    }
    return find_abbreviated(client, nouns, text, nouns.size() == 1 ? not_found : none_of(nouns, text));
}

std::string instance_named(ApiClient& client, const std::string& text) {
    return one_named(client, Noun::instance, text);
}

std::string application_named(ApiClient& client, const std::string& text) {
    return one_named(client, Noun::application, text);
}

std::string image_named(ApiClient& client, const std::string& text) {
    return one_named(client, Noun::image, text);
}

std::string addon_named(ApiClient& client, const std::string& text) {
    return one_named(client, Noun::addon, text);
}

std::string node_named(ApiClient& client, const std::string& text) {
    return one_named(client, Noun::node, text);
}

std::string operation_named(ApiClient& client, const std::string& text) {
    return one_named(client, Noun::operation, text);
}

}  // namespace svc::cli
