#pragma once
// Immutable values that share their memory with equal ones. For fields that have the same value in many
// records.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace svc {

// The hash of a value; equal values have equal hashes. Specialise it for a struct.
template <class T>
struct InternHash {
    std::size_t operator()(const T& value) const { return std::hash<T>()(value); }
};

inline std::size_t mixed_hash(std::size_t a, std::size_t b) {
    return a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U));
}

template <class T>
struct InternHash<std::vector<T>> {
    std::size_t operator()(const std::vector<T>& values) const {
        std::size_t hash = values.size();
        for (const T& value : values) hash = mixed_hash(hash, InternHash<T>()(value));
        return hash;
    }
};

template <class T>
concept is_list = requires {
    typename T::value_type;
};

// The type of the items of a list. For other types: a private class, so that the constructor from a list in
// braces cannot be called.
template <class T>
struct ItemOf {
    class type {  // NOLINT(readability-identifier-naming): traits of the standard say `type`
        type();
    };
};
template <is_list T>
struct ItemOf<T> {
    using type = typename T::value_type;
};

// Stores each distinct value once and counts its holders. Thread-safe. Internal to Interned.
template <class T>
class InternPool {
  public:
    struct Node {
        T value;
        std::size_t hash;
        std::atomic<std::uint32_t> holders{1};
    };

    static Node* hold(T value) {
        const std::size_t hash = InternHash<T>()(value);
        Shard& shard = shard_of(hash);
        std::lock_guard lock(shard.mutex);
        const auto found = shard.nodes.find(Wanted{value, hash});
        if (found != shard.nodes.end()) {
            (*found)->holders.fetch_add(1, std::memory_order_relaxed);
            return *found;
        }
        auto* const node = new Node{std::move(value), hash};
        shard.nodes.insert(node);
        return node;
    }

    static void release(Node* node) {
        std::uint32_t holders = node->holders.load(std::memory_order_relaxed);
        while (holders > 1)
            if (node->holders.compare_exchange_weak(holders, holders - 1, std::memory_order_acq_rel)) return;
        Shard& shard = shard_of(node->hash);
        std::unique_lock lock(shard.mutex);  // under the lock, as hold() may have added a holder meanwhile
        if (node->holders.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
        shard.nodes.erase(node);
        lock.unlock();
        delete node;
    }

  private:
    struct Wanted {
        const T& value;
        std::size_t hash;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Node* node) const { return node->hash; }
        std::size_t operator()(const Wanted& wanted) const { return wanted.hash; }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const Node* a, const Node* b) const { return a == b; }
        bool operator()(const Wanted& a, const Node* b) const { return a.value == b->value; }
        bool operator()(const Node* a, const Wanted& b) const { return a->value == b.value; }
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_set<Node*, Hash, Equal> nodes;
    };
    static Shard& shard_of(std::size_t hash) {
        static auto& shards = *new std::array<Shard, 16>;  // never destroyed: static objects may hold values
        return shards[(hash >> 7U) % shards.size()];
    }
};

// An immutable value in the size of a pointer. Equal values share one object, T{} takes no memory. Use it
// where values repeat: the constructor looks the value up in a table, under a lock. Thread-safe as a
// shared_ptr is. Converts to `const T&`.
template <class T>
class Interned {
  public:
    Interned() = default;
    template <class U>
    requires(!std::is_same_v<std::remove_cvref_t<U>, Interned> && std::is_convertible_v<U, T>)
        Interned(U&& value) {  // NOLINT(bugprone-forwarding-reference-overload): not of itself
        T made(std::forward<U>(value));
        if (!(made == empty_value())) node_ = InternPool<T>::hold(std::move(made));
    }
    Interned(std::initializer_list<typename ItemOf<T>::type> items) : Interned(T(items)) {}
    Interned(const Interned& other) noexcept : node_(other.node_) {
        if (node_ != nullptr) node_->holders.fetch_add(1, std::memory_order_relaxed);
    }
    Interned(Interned&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Interned& operator=(Interned other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~Interned() {
        if (node_ != nullptr) InternPool<T>::release(node_);
    }

    const T& operator*() const { return node_ == nullptr ? empty_value() : node_->value; }
    const T* operator->() const { return &**this; }
    operator const T&() const { return **this; }

    // Applies `apply` to a copy of the value and holds the result.
    template <class Change>
    void change(Change apply) {
        T copy = **this;
        apply(copy);
        *this = std::move(copy);
    }

    auto begin() const requires is_list<T> { return (**this).begin(); }
    auto end() const requires is_list<T> { return (**this).end(); }
    std::size_t size() const requires is_list<T> { return (**this).size(); }
    bool empty() const requires is_list<T> { return (**this).empty(); }
    const auto& operator[](std::size_t index) const requires is_list<T> { return (**this)[index]; }

    friend bool operator==(const Interned& a, const Interned& b) { return a.node_ == b.node_; }
    template <class U>
    requires(!std::is_same_v<U, Interned> &&
             (std::is_convertible_v<const U&, T> || std::is_convertible_v<const T&, U>)) friend bool
    operator==(const Interned& a, const U& b) {
        return *a == b;
    }

  private:
    static const T& empty_value() {
        static const T& value = *new T{};
        return value;
    }
    typename InternPool<T>::Node* node_ = nullptr;
};

}  // namespace svc
