#pragma once
// Limits of the texts that guests and failures put into records, so that no record outgrows what the store
// takes.
#include <cstddef>
#include <string>
#include <vector>

namespace svc {

inline constexpr std::size_t max_error_bytes = 4096;  // of an error message
inline constexpr std::size_t max_note_bytes = 512;    // one note of a bootstrap
inline constexpr std::size_t max_notes_bytes = 8192;  // all notes of a record together
inline constexpr std::size_t max_notes = 100;
// Bytes by which the record of an instance may grow after its launch: notes and an error message (JSON
// escapes may make them six times as long), address, node ports, GPUs, names of logs.
inline constexpr std::size_t room_to_grow = std::size_t{192} << 10;

// Cuts `text` to at most `limit` bytes of UTF-8. A cut text ends with a mark that says how long it was.
std::string clipped(std::string text, std::size_t limit);

// `notes` and those of `more` that are new, each cut to its limit, as long as there is room; a last note says
// that some were left out. Joining the same notes again changes nothing.
std::vector<std::string> joined_notes(const std::vector<std::string>& notes,
                                      const std::vector<std::string>& more);

}  // namespace svc
