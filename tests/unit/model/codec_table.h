#pragma once
// Tables for codecs: one row says what is read, and what comes of it. Include after <catch2/catch.hpp>.
#include <catch2/catch.hpp>
#include <concepts>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/error_code.h"
#include "tests/support/golden.h"
#include "tests/unit/model/record_checks.h"

namespace svc::test {

// How a record is stored: what every such codec must do, whatever its noun.
template <class Record>
struct RecordCodec {
    std::string golden;  // the file with the stored form of `sample`, below unit/model/golden; empty: none
    Record sample;       // with every member set
    Json (*write)(const Record&);
    Record (*read)(const Json&);
    std::set<std::string> required;  // members without which it is refused
    std::set<std::string> any_type;  // members that may hold anything
};

// `sample` is stored as the golden file says, is read back whole, and each member is checked (check_members).
template <class Record>
void check_record_codec(const RecordCodec<Record>& codec) {
    const Json stored = codec.write(codec.sample);
    if (!codec.golden.empty()) check_golden("unit/model/golden/" + codec.golden, stored);
    CHECK(codec.write(codec.read(stored)) == stored);
    CHECK(codec.write(codec.read(Json::parse(stored.dump_pretty()))) == stored);
    check_members(stored, codec.required, codec.any_type, [&](const Json& changed) { codec.read(changed); });
}

inline const std::string is_taken;         // outcome of a row: no error
inline const std::string is_refused{"*"};  // outcome of a row: invalid_argument, with any text

// What a body or header is read to. `outcome`: is_taken, or the text of the refusal; a * in front or behind
// stands for any text there.
struct CodecRow {
    CodecRow(std::string text, std::string outcome) : input(std::move(text)), outcome(std::move(outcome)) {}
    CodecRow(const char* text, std::string outcome) : input(text), outcome(std::move(outcome)) {}
    CodecRow(const Json& document, std::string outcome)
        : input(document.dump()), outcome(std::move(outcome)) {}
    std::string input, outcome;
};

inline bool fits(const std::string& message, std::string pattern) {
    const bool open_front = pattern.starts_with('*'), open_back = pattern.ends_with('*');
    if (open_back) pattern.pop_back();
    if (open_front && !pattern.empty()) pattern.erase(0, 1);
    if (open_front && open_back) return message.find(pattern) != std::string::npos;
    if (open_front) return message.ends_with(pattern);
    return open_back ? message.starts_with(pattern) : message == pattern;
}

// `read` is a codec's reader of JSON or of text. Each row is checked, also after one that failed.
template <class Read>
void check_codec(Read read, const std::vector<CodecRow>& rows) {
    for (const CodecRow& row : rows) {
        INFO("input " << row.input);
        const auto attempt = [&] {
            if constexpr (std::invocable<Read, const Json&>)
                read(Json::parse(row.input));
            else
                read(row.input);
        };
        const bool taken = row.outcome.empty();
        const auto code = code_of(attempt);
        CHECK(code == (taken ? std::nullopt : std::optional(ErrorCode::invalid_argument)));
        if (taken) continue;
        INFO("refused with: " << message_of(attempt));
        INFO("not with: " << row.outcome);
        CHECK(fits(message_of(attempt), row.outcome));
    }
}

// Rows that are all refused, with any text.
inline std::vector<CodecRow> all_refused(const std::vector<std::string>& inputs) {
    std::vector<CodecRow> rows;
    for (const std::string& input : inputs) rows.emplace_back(input, is_refused);
    return rows;
}

// `body` with `key` set to the JSON text `value`.
inline Json with_member(const char* body, const std::string& key, const std::string& value) {
    Json changed = Json::parse(body);
    changed.set(key, Json::parse(value));
    return changed;
}

}  // namespace svc::test
