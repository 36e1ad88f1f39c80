#pragma once
// What the disk and SQLite by themselves can do: the limits that a durable store has.
#include <chrono>
#include <filesystem>

namespace svc::bench {

// Rows a second that SQLite commits (WAL, synchronous=FULL, one thread) with so many rows in a transaction.
double bare_sqlite_rows(const std::filesystem::path& file, unsigned rows_per_commit, std::size_t value_bytes,
                        std::chrono::milliseconds duration);

// Synced appends of 4 KiB a second.
double bare_syncs(const std::filesystem::path& file, std::chrono::milliseconds duration);

}  // namespace svc::bench
