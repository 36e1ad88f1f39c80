#pragma once
// How much of what guests and failures say goes into records: never so much that one could not be changed any
// more.
#include <cstddef>
#include <string>
#include <vector>

namespace svc {

inline constexpr std::size_t max_error_bytes = 4096;  // of why something failed, whoever says so
inline constexpr std::size_t max_note_bytes = 512;
inline constexpr std::size_t max_notes_bytes = 8192;  // all notes of a record together
inline constexpr std::size_t max_notes = 100;
// What the record of an instance may grow by after its launch: notes and an error, both of which JSON may
// make six times as long, address, node ports, GPUs, logs.
inline constexpr std::size_t room_to_grow = std::size_t{192} << 10;

// At most `limit` bytes of UTF-8: what is longer loses its end, and says so and how long it was.
std::string clipped(std::string text, std::size_t limit);

// `notes` and what is new in `more`, each cut to its limit, as far as there is room; a last note says that
// there was no more. Of what has been joined already nothing is left to do.
std::vector<std::string> joined_notes(const std::vector<std::string>& notes,
                                      const std::vector<std::string>& more);

}  // namespace svc
