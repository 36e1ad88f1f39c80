#pragma once
// Which records this program understands, as it tells other managers.

namespace svc::server {

// The newest schema of records that it reads and writes: records_schema. The tests of upgrades link the
// program with another definition, so this one is weak.
int known_schema() noexcept;

}  // namespace svc::server
