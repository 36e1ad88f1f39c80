#pragma once
// The bodies of Collection<T>; included by collection.h alone.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/model/values/schema.h"
#include "libsvc/store/collection.h"

namespace svc {

namespace detail {

constexpr int max_update_attempts =
    100;  // each needs another writer to have won; beyond that something is broken

inline void check_schema(const Json& stored) {
    const Json* const schema = stored.find("schema");
    if (schema != nullptr && schema->is_integer() && schema->as_int() > records_schema)
        throw Error(ErrorCode::unsupported, "it was written by a newer version of the service");
}

template <class T>
std::shared_ptr<const T> decode_record(std::string_view key, std::string_view value) {
    return with_context("stored record '" + std::string(key) + "'", [&] {
        if (value.size() > Batch::max_value_bytes)
            throw Error(ErrorCode::internal, "it is larger than 1 MiB");
        const Json stored = Json::parse(value);
        check_schema(stored);
        auto record = std::make_shared<const T>(RecordTraits<T>::from_store(stored));
        if (RecordTraits<T>::id(*record) != key.substr(RecordTraits<T>::prefix.size()))
            throw Error(ErrorCode::internal, "it is of another object");
        return record;
    });
}

template <class T>
std::string encode_record(const T& record) {
    return RecordTraits<T>::to_store(record).dump();
}

}  // namespace detail

template <class T>
Collection<T>::Collection(Store& store, Observer observer) : store_(store), observer_(std::move(observer)) {
    // The lock holds back changes that come in while loading: `apply` waits for it and then only moves
    // forward.
    std::unique_lock lock(mutex_);
    watch_ = store_.watch(std::string(Traits::prefix), [this](const auto& events) { apply(events); });
    store_.scan(Traits::prefix, [this](const Entry& entry) { load(entry); });
}

template <class T>
void Collection<T>::load(const Entry& entry) {
    Ptr record;
    try {
        record = detail::decode_record<T>(entry.key, entry.value);
    } catch (const std::exception& e) {
        return set_aside(entry, e.what());
    }
    if (std::string name = Traits::name(*record); !name.empty())
        ids_by_name_.insert_or_assign(std::move(name), Traits::id(*record));
    if (observer_) observer_(nullptr, record.get());
    records_.insert(Slot{std::move(record), entry.revision});
}

// One bad record must not keep the others from being served.
template <class T>
void Collection<T>::set_aside(const Entry& entry, const char* reason) {
    log::error("stored record cannot be read and is left as it is", {{"key", entry.key}, {"error", reason}});
    std::string id = entry.key.substr(Traits::prefix.size());
    unreadable_.insert_or_assign(id, UnreadableRecord{entry.key, id, {}, reason, entry.revision});
    names_to_learn_ = true;
}

// Not while changes are applied: a watch must not read the store.
template <class T>
void Collection<T>::learn_names() const {
    if (!names_to_learn_.exchange(false)) return;
    std::map<std::string, std::vector<std::string>> by_id;
    try {
        const std::string names = name_key("");
        store_.scan(
            names, [&](const Entry& entry) { by_id[entry.value].push_back(entry.key.substr(names.size())); });
    } catch (...) {
        names_to_learn_ = true;
        throw;
    }
    std::unique_lock lock(mutex_);
    for (auto& [id, broken] : unreadable_) broken.names = by_id[id];
}

template <class T>
std::string Collection<T>::record_key(std::string_view id) {
    return std::string(Traits::prefix).append(id);
}

template <class T>
std::string Collection<T>::name_key(std::string_view name) {
    return std::string("names/").append(Traits::prefix).append(name);
}

template <class T>
typename Collection<T>::Ptr Collection<T>::find(std::string_view id_or_name) const {
    std::shared_lock lock(mutex_);
    const Slot* const found = named(id_or_name);
    return found == nullptr ? nullptr : found->record;
}

template <class T>
const typename Collection<T>::Slot* Collection<T>::named(std::string_view id_or_name) const {
    if (const Slot* const found = records_.find(id_or_name)) return found;
    if constexpr (requires { Traits::id_in(id_or_name); }) {
        if (const Slot* const said = records_.find(Traits::id_in(id_or_name))) return said;
    }
    const auto id = ids_by_name_.find(id_or_name);
    return id == ids_by_name_.end() ? nullptr : records_.find(id->second);
}

template <class T>
typename Collection<T>::Revised Collection<T>::get_revised(std::string_view id_or_name) const {
    std::shared_lock lock(mutex_);
    if (const Slot* const found = named(id_or_name)) return *found;
    lock.unlock();
    throw_absent(id_or_name);
}

template <class T>
typename Collection<T>::Ptr Collection<T>::get(std::string_view id_or_name) const {
    if (Ptr record = find(id_or_name)) return record;
    throw_absent(id_or_name);
}

template <class T>
void Collection<T>::throw_absent(std::string_view id_or_name) const {
    const std::string noun(Traits::noun);
    if (const auto broken = find_unreadable(id_or_name))
        throw Error(ErrorCode::internal, noun + " cannot be read: " + broken->reason);
    throw Error(ErrorCode::not_found, noun + " not found");
}

template <class T>
std::vector<UnreadableRecord> Collection<T>::unreadable() const {
    learn_names();
    std::vector<UnreadableRecord> all;
    std::shared_lock lock(mutex_);
    for (const auto& [id, broken] : unreadable_) all.push_back(broken);
    return all;
}

template <class T>
std::optional<UnreadableRecord> Collection<T>::find_unreadable(std::string_view id_or_name) const {
    learn_names();
    std::shared_lock lock(mutex_);
    if (const auto found = unreadable_.find(id_or_name); found != unreadable_.end()) return found->second;
    for (const auto& [id, broken] : unreadable_)
        if (std::ranges::find(broken.names, id_or_name) != broken.names.end()) return broken;
    return std::nullopt;
}

template <class T>
bool Collection<T>::all_readable() const {
    std::shared_lock lock(mutex_);
    return unreadable_.empty();
}

template <class T>
std::vector<typename Collection<T>::Ptr> Collection<T>::list() const {
    std::vector<Ptr> all;
    std::shared_lock lock(mutex_);
    all.reserve(records_.size());
    records_.visit(0, records_.size(), [&all](const Slot& slot) { all.push_back(slot.record); });
    return all;
}

template <class T>
typename Collection<T>::Window Collection<T>::window(std::size_t offset, std::size_t limit) const {
    std::shared_lock lock(mutex_);
    const std::size_t total = records_.size();
    offset = std::min(offset, total);
    limit = std::min(limit, total - offset);
    Window window{{}, total};
    window.records.reserve(limit);
    records_.visit(offset, limit, [&window](const Slot& slot) { window.records.push_back(slot.record); });
    return window;
}

template <class T>
std::size_t Collection<T>::size() const {
    std::shared_lock lock(mutex_);
    return records_.size();
}

template <class T>
std::optional<typename Collection<T>::Slot> Collection<T>::slot(std::string_view id) const {
    std::shared_lock lock(mutex_);
    const Slot* const found = records_.find(id);
    return found == nullptr ? std::nullopt : std::optional(*found);
}

template <class T>
typename Collection<T>::Ptr Collection<T>::create(T record, Batch together) {
    const std::string id = Traits::id(record);
    const std::string name = Traits::name(record);
    Batch batch;
    stage_create(batch, record);
    batch.append(std::move(together));
    try {
        store_.commit(batch);
    } catch (const Error& e) {
        const bool taken = slot(id) || name_is_taken(id, name) || find_unreadable(id) ||
                           (!name.empty() && find_unreadable(name));
        if (e.code() == ErrorCode::conflict && taken) throw_exists();
        throw;  // something in `together`
    }
    return committed(id, std::move(record));
}

template <class T>
typename Collection<T>::Ptr Collection<T>::put(T record) {
    const std::string id = Traits::id(record);
    if (!find_unreadable(id)) return create(std::move(record));
    Batch batch;
    stage_overwrite(batch, record);
    store_.commit(batch);
    return committed(id, std::move(record));
}

template <class T>
typename Collection<T>::Ptr Collection<T>::update(std::string_view id, const std::function<void(T&)>& change,
                                                  const Batch& together) {
    for (int attempt = 1;; ++attempt) {
        const Slot before = require_slot(id);
        T record = *before.record;
        change(record);
        Batch batch;
        stage_replace(batch, id, before, record);
        batch.append(together);
        try {
            store_.commit(batch);
            return committed(id, std::move(record));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict) throw;
            // Trying again only helps when our own record has moved on; else a new name or `together` is
            // refused.
            const auto now = slot(id);
            if (now && now->revision == before.revision) {
                if (name_is_taken(id, Traits::name(record))) throw_exists();
                throw;
            }
            if (attempt == detail::max_update_attempts) throw;
        }
    }
}

template <class T>
void Collection<T>::remove(std::string_view id, const Batch& together) {
    for (int attempt = 1;; ++attempt) {
        const auto before = slot(id);
        Batch batch;
        if (before)
            stage_removal(batch, id, *before);
        else if (const auto broken = find_unreadable(id))
            stage_removal(batch, *broken);
        batch.append(together);
        if (batch.empty()) return;
        try {
            store_.commit(batch);
            return;
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict || attempt == detail::max_update_attempts) throw;
            const auto now = slot(id);
            const bool moved = now ? !before || now->revision != before->revision : before.has_value();
            if (!moved) throw;
        }
    }
}

template <class T>
void Collection<T>::stage_create(Batch& batch, const T& record) const {
    const std::string id = Traits::id(record);
    const std::string key = record_key(id);
    batch.expect(key, 0).put(key, detail::encode_record(record));
    if (const std::string name = Traits::name(record); !name.empty())
        batch.expect(name_key(name), 0).put(name_key(name), id);
}

template <class T>
void Collection<T>::stage_update(Batch& batch, std::string_view id,
                                 const std::function<void(T&)>& change) const {
    const Slot before = require_slot(id);
    T record = *before.record;
    change(record);
    stage_replace(batch, id, before, record);
}

template <class T>
void Collection<T>::stage_remove(Batch& batch, std::string_view id) const {
    if (const auto before = slot(id))
        stage_removal(batch, id, *before);
    else if (const auto broken = find_unreadable(id))
        stage_removal(batch, *broken);
}

template <class T>
void Collection<T>::stage_overwrite(Batch& batch, const T& record) const {
    const auto broken = find_unreadable(Traits::id(record));
    if (!broken) return stage_create(batch, record);
    stage_copy(batch, *broken);
    stage_removal(batch, *broken);
    batch.put(broken->key, detail::encode_record(record));
    if (const std::string name = Traits::name(record); !name.empty()) batch.put(name_key(name), broken->id);
}

template <class T>
void Collection<T>::stage_copy(Batch& batch, const UnreadableRecord& broken) const {
    const auto entry = store_.get(broken.key);
    const std::string copy = "unreadable/" + broken.key;
    for (std::size_t at = 0, piece = 0; entry && at < std::max<std::size_t>(entry->value.size(), 1);
         ++piece) {
        const std::string part = entry->value.substr(at, Batch::max_value_bytes);
        batch.put(piece == 0 ? copy : copy + "/" + std::to_string(piece), part);
        at += std::max<std::size_t>(part.size(), 1);
    }
}

template <class T>
void Collection<T>::stage_removal(Batch& batch, const UnreadableRecord& broken) {
    batch.expect(broken.key, broken.revision).remove(broken.key);
    for (const std::string& name : broken.names) batch.remove(name_key(name));
}

template <class T>
void Collection<T>::stage_replace(Batch& batch, std::string_view id, const Slot& before, const T& record) {
    if (Traits::id(record) != id)
        throw Error(ErrorCode::internal,
                    "the id of a stored " + std::string(Traits::noun) + " cannot change");
    const std::string key = record_key(id);
    batch.expect(key, before.revision).put(key, detail::encode_record(record));
    const std::string old_name = Traits::name(*before.record);
    const std::string new_name = Traits::name(record);
    if (old_name == new_name) return;
    if (!old_name.empty()) batch.remove(name_key(old_name));
    if (!new_name.empty()) batch.expect(name_key(new_name), 0).put(name_key(new_name), std::string(id));
}

template <class T>
void Collection<T>::stage_removal(Batch& batch, std::string_view id, const Slot& before) {
    const std::string key = record_key(id);
    batch.expect(key, before.revision).remove(key);
    if (const std::string name = Traits::name(*before.record); !name.empty()) batch.remove(name_key(name));
}

template <class T>
typename Collection<T>::Slot Collection<T>::require_slot(std::string_view id) const {
    if (auto found = slot(id)) return std::move(*found);
    throw_absent(id);
}

template <class T>
bool Collection<T>::name_is_taken(std::string_view id, const std::string& name) const {
    if (name.empty()) return false;
    std::shared_lock lock(mutex_);
    const auto holder = ids_by_name_.find(name);
    return holder != ids_by_name_.end() && holder->second != id;
}

template <class T>
void Collection<T>::throw_exists() {
    throw Error(ErrorCode::conflict, std::string(Traits::noun) + " already exists");
}

// The watch has put the record into memory by now; the copy serves when somebody has removed it since.
template <class T>
typename Collection<T>::Ptr Collection<T>::committed(std::string_view id, T&& record) const {
    if (auto now = slot(id)) return std::move(now->record);
    return std::make_shared<const T>(std::move(record));
}

template <class T>
void Collection<T>::apply(const std::vector<WatchEvent>& events) {
    struct Change {
        const WatchEvent* event;
        Ptr record;
        std::string fault;  // why it cannot be read
    };
    std::vector<Change> changes;
    for (const WatchEvent& event : events) try {
            changes.push_back(
                {&event, event.value ? detail::decode_record<T>(event.key, *event.value) : nullptr, ""});
        } catch (const std::exception& e) {
            changes.push_back({&event, nullptr, e.what()});
        }
    std::unique_lock lock(mutex_);
    for (auto& [event, record, fault] :
         changes) {  // leaves the previous one in `record`, to be freed after the lock
        const bool newest =
            replace(std::string_view(event->key).substr(Traits::prefix.size()), record, event->revision);
        if (newest && !fault.empty()) set_aside({event->key, "", event->revision}, fault.c_str());
    }
    ++changes_;
    lock.unlock();
}

template <class T>
bool Collection<T>::replace(std::string_view id, Ptr& record, Revision revision) {
    Slot* const found = records_.find(id);
    const auto broken = unreadable_.find(id);
    if (found != nullptr && found->revision > revision) return false;  // loaded newer already
    if (broken != unreadable_.end() && broken->second.revision >= revision) return false;
    if (broken != unreadable_.end()) unreadable_.erase(broken);
    if (observer_) observer_(found == nullptr ? nullptr : found->record.get(), record.get());
    const std::string name = record ? Traits::name(*record) : std::string();
    if (found != nullptr) drop_name(*found->record, name);
    if (!name.empty()) ids_by_name_.insert_or_assign(name, std::string(id));
    if (found == nullptr) {
        if (record) records_.insert(Slot{std::move(record), revision});
        return true;
    }
    if (!record) {
        record = found->record;
        records_.erase(id);
        return true;
    }
    std::swap(found->record, record);
    found->revision = revision;
    return true;
}

// Unless another record has taken it since.
template <class T>
void Collection<T>::drop_name(const T& record, const std::string& kept) {
    const auto named = ids_by_name_.find(Traits::name(record));
    if (named != ids_by_name_.end() && named->first != kept && named->second == Traits::id(record))
        ids_by_name_.erase(named);
}

}  // namespace svc
