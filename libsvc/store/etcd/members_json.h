#pragma once
// The values of the keys `manager`, `managers/<id>`, `owner` and `cluster/schema`.
#include <optional>
#include <string>

#include "libsvc/store/etcd/members.h"

namespace svc::etcd {

std::string manager_text(const Manager& manager, std::uint64_t term);  // as read_term() has it
std::optional<Manager> read_manager(const std::string& text);  // nothing: of a program that is not known
// The highest term of a leader that the machine of a manager has heard of.
std::uint64_t read_term(const std::string& manager);
std::string holder_text(const Manager& manager);
void read_holder(const Entry& entry, Lead& lead);  // a strange value holds the lease all the same
std::string owner_text(const std::string& id, std::uint64_t term);
void read_owner(const Entry& entry, Lead& lead);  // a strange value is an owner of term 0
std::string schema_text(int schema);
void read_schema(const Entry& entry, RecordsSchema& schema);  // a strange value is newer than any

}  // namespace svc::etcd
