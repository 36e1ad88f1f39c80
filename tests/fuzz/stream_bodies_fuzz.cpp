// What strangers send to the gateway besides signalling: bodies, queries, tokens. The first byte chooses.
#include <array>
#include <cstdint>
#include <cstdlib>

#include "libsvc/base/strings.h"
#include "libsvc/model/streaming/account.h"
#include "libsvc/model/streaming/stream_session.h"
#include "libsvc/streaming/tokens.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::stream_bodies_target {

namespace {

using namespace svc;

const TokenMint& mint() {
    static const TokenMint mint(std::string(64, 'k'));
    return mint;
}

std::map<std::string, std::string> query_of(std::string_view text) {
    std::map<std::string, std::string> query;
    for (const auto& item : split(text, '&'))
        query.emplace(item.substr(0, item.find('=')), item.substr(std::min(item.find('=') + 1, item.size())));
    return query;
}

// What was accepted is stored and comes back.
void store(const SessionCreate& request) {
    StreamSession session;
    session.id = "0123456789abcdefghij";
    session.app = request.app;
    session.extra_data = request.extra_data;
    session.screen = request.screen;
    if (!(session_from_store(Json::parse(session_to_store(session).dump())).extra_data == request.extra_data))
        std::abort();
}

const std::array<fuzz::Decoder, 6> decoders = {
    [](std::string_view text) { store(SessionCreate::from_json(Json::parse(text))); },
    [](std::string_view text) { SessionJoin::from_json(Json::parse(text)); },
    [](std::string_view text) { SessionQuery::from_query(query_of(text)); },
    [](std::string_view text) { AccountCreate::from_json(Json::parse(text)); },
    // Nobody makes a token without the secret.
    [](std::string_view text) { mint().read_account_token(text, Time()), std::abort(); },
    [](std::string_view text) { mint().read_socket_token(text, Time()), std::abort(); },
};

}  // namespace

FUZZ_TARGET(stream_bodies)(const std::uint8_t* data, std::size_t size) {
    return svc::fuzz::decode_with_one_of(decoders, data, size);
}

}  // namespace svc::fuzz::stream_bodies_target
