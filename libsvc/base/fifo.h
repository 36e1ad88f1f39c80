#pragma once
// A queue that holds no memory while it is empty, for connections: there are thousands, most of them idle.
#include <cstddef>
#include <utility>
#include <vector>

namespace svc {

// Not thread-safe. T is default-constructible.
template <class T>
class Fifo {
  public:
    bool empty() const { return first_ == items_.size(); }
    std::size_t size() const { return items_.size() - first_; }
    const T& front() const { return items_[first_]; }
    void push(T item) { items_.push_back(std::move(item)); }
    T pop() {
        T item = std::move(items_[first_++]);
        if (empty())
            shrink();
        else if (first_ >= kept_items && first_ >= size())
            close_gap();
        return item;
    }
    void clear() {
        std::vector<T>().swap(items_);
        first_ = 0;
    }

  private:
    static constexpr std::size_t kept_items = 64;
    // A queue in use becomes empty again and again, so it keeps a small buffer.
    void shrink() {
        if (items_.capacity() > kept_items) return clear();
        items_.clear();
        first_ = 0;
    }
    void close_gap() {
        items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }

    std::vector<T> items_;
    std::size_t first_ = 0;
};

}  // namespace svc
