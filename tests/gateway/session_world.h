#pragma once
// A gateway with two accounts, asked for sessions as its clients do.
#include <catch2/catch.hpp>

#include "tests/support/normalise.h"
#include "tests/support/test_gateway.h"

namespace svc::test {

inline const std::string unknown_id = "00000000000000000000";

inline Json body(const std::string& text) {
    return Json::parse(text);
}

// The address and the token differ from run to run.
inline Json comparable(const ApiReply& reply) {
    Json all = reply.json();
    const Json* metadata = all.find("metadata");
    if (metadata && metadata->find("url")) {
        Json known = *metadata;
        for (const char* const member : {"url", "media_url"}) {
            std::string url = known.at(member).as_string();
            const std::size_t path = url.find('/', 6);
            const std::size_t token = url.find("token=");
            url = url.substr(0, 6) + "<host>" + url.substr(path, token + 6 - path) + "<token>";
            known.set(member, url);
        }
        all.set("metadata", known);
    }
    return normalise(all);
}

inline std::vector<std::string> ids(const ApiReply& reply) {
    std::vector<std::string> found;
    const Json metadata = reply.metadata();
    for (const Json& id : metadata.as_array()) found.push_back(id.as_string());
    return found;
}

struct SessionCaller : TestGateway {
    using TestGateway::TestGateway;
    std::string alice = token("alice");
    std::string bob = token("bob");
    std::string new_session() { return create(alice).at("id").as_string(); }
    ApiReply get(const std::string& path) { return call(Method::get, path, alice); }
    ApiReply post(const std::string& path, const Json& with) { return call(Method::post, path, alice, with); }
    ApiReply remove(const std::string& path, const Json& with = {}) {
        return call(Method::delete_, path, alice, with);
    }
};

}  // namespace svc::test
