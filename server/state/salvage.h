#pragma once
// Reads what can be read of a damaged database, row by row.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "server/state/records.h"

namespace svc::server::state {

struct Salvaged {
    StoredValues values;
    bool whole = false;          // SQLite finds no damage, and every row was read
    std::string damage;          // what SQLite said first
    std::size_t from_pages = 0;  // rows that only a look at the single pages has found: perhaps outdated
};

// Changes nothing. Throws unsupported for a database of a newer version.
Salvaged salvage(const std::filesystem::path& database);

// Makes a database of the values, beside nothing: `database` must not exist. Synced.
void write_database(const std::filesystem::path& database, const StoredValues& values);

}  // namespace svc::server::state
