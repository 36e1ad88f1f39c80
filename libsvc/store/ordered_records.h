#pragma once
// Internal to collection.h: what a collection knows of its records, in the order of their ids. In blocks of
// neighbours: a part of the list is found by counting blocks, and takes less memory than a tree of nodes. Ids
// grow with time, so that most records come last.
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace svc {

// `IdOf` gives the id of a slot as a text that lives as long as the slot. Not thread-safe; a change ends the
// validity of pointers to slots.
template <class Slot, class IdOf>
class OrderedRecords {
  public:
    std::size_t size() const { return size_; }

    // Null: absent.
    Slot* find(std::string_view id) {
        return const_cast<Slot*>(std::as_const(*this).find(id));  // NOLINT: *this is not const
    }
    const Slot* find(std::string_view id) const {
        if (blocks_.empty()) return nullptr;
        const Block& block = blocks_[block_of(id)];
        const auto at = place_in(block, id);
        return at != block.end() && IdOf()(*at) == id ? &*at : nullptr;
    }

    // No other slot has its id.
    void insert(Slot slot) {
        if (blocks_.empty()) blocks_.emplace_back();
        std::size_t n = block_of(IdOf()(slot));
        if (blocks_[n].size() == most) n = make_room(n, IdOf()(slot));
        Block& block = blocks_[n];
        const auto at = place_in(block, IdOf()(slot));
        block.insert(at, std::move(slot));
        ++size_;
    }

    // The slot is there.
    void erase(std::string_view id) {
        const std::size_t n = block_of(id);
        Block& block = blocks_[n];
        block.erase(place_in(block, id));
        --size_;
        if (block.empty())
            remove_block(n);
        else if (n + 1 < blocks_.size() && block.size() + blocks_[n + 1].size() <= most / 2)
            join_with_next(n);
    }

    // Calls `visit(slot)` for at most `limit` slots, the first of them being number `offset`.
    template <class Visit>
    void visit(std::size_t offset, std::size_t limit, Visit visit) const {
        for (const Block& block : blocks_) {
            if (limit == 0) return;
            const std::size_t skipped = std::min(offset, block.size());
            const std::size_t taken = std::min(limit, block.size() - skipped);
            for (std::size_t i = skipped; i < skipped + taken; ++i) visit(block[i]);
            offset -= skipped;
            limit -= taken;
        }
    }

  private:
    using Block = std::vector<Slot>;  // never empty
    static constexpr std::size_t most = 512;

    std::size_t block_of(std::string_view id) const {
        const auto after = std::upper_bound(
            blocks_.begin() + 1, blocks_.end(), id,
            [](std::string_view wanted, const Block& b) { return wanted < IdOf()(b.front()); });
        return static_cast<std::size_t>(after - blocks_.begin()) - 1;
    }
    static auto place_in(const Block& block, std::string_view id) {
        return std::lower_bound(
            block.begin(), block.end(), id,
            [](const Slot& slot, std::string_view wanted) { return IdOf()(slot) < wanted; });
    }
    // Behind a full last block comes an empty one, so that blocks of growing ids are full.
    std::size_t make_room(std::size_t n, std::string_view id) {
        const bool at_end = n + 1 == blocks_.size() && IdOf()(blocks_[n].back()) < id;
        const std::size_t kept = at_end ? most : most / 2;
        Block& block = blocks_[n];
        Block behind(std::make_move_iterator(block.begin() + static_cast<std::ptrdiff_t>(kept)),
                     std::make_move_iterator(block.end()));
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(kept), block.end());
        const bool first_half = !at_end && id < IdOf()(behind.front());
        blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(n) + 1, std::move(behind));
        return first_half ? n : n + 1;
    }
    void remove_block(std::size_t n) { blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(n)); }
    void join_with_next(std::size_t n) {
        Block& next = blocks_[n + 1];
        blocks_[n].insert(blocks_[n].end(), std::make_move_iterator(next.begin()),
                          std::make_move_iterator(next.end()));
        remove_block(n + 1);
    }

    std::vector<Block> blocks_;
    std::size_t size_ = 0;
};

}  // namespace svc
