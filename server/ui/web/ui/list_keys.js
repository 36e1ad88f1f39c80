// What keys and pointers do to the active row and the selection of a list.

// The keys of the rows between two, in either order.
function between({ rows, keyOf }, one, other) {
    return new Set(rows.slice(Math.min(one, other), Math.max(one, other) + 1).map(keyOf));
}

function toggle({ rows, keyOf, selected, onSelect, anchor }, index) {
    const key = keyOf(rows[index]);
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    anchor.current = key;
    onSelect(next);
}

function extend(list, index) {
    const { rows, keyOf, anchor } = list;
    const begin = rows.findIndex((row) => keyOf(row) === anchor.current);
    if (begin < 0) anchor.current = keyOf(rows[index]);
    list.onSelect(between(list, begin < 0 ? index : begin, index));
}

const targets = {
    ArrowDown: ({ at }) => at + 1,
    ArrowUp: ({ at }) => at - 1,
    PageDown: ({ at, page }) => at + page(),
    PageUp: ({ at, page }) => at - page(),
    Home: () => 0,
    End: ({ rows }) => rows.length - 1,
};

function moveTo(list, target, extending) {
    const index = Math.max(0, Math.min(target, list.rows.length - 1));
    const { at, anchor, keyOf, rows } = list;
    if (extending && at >= 0 && !list.selected.has(keyOf(rows[at]))) anchor.current = keyOf(rows[at]);
    list.move(index);
    if (extending) extend(list, index);
    else anchor.current = keyOf(rows[index]);
}

function press(event, list) {
    const { at, rows, selected, onSelect, keyOf } = list;
    const all = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'a';
    if (targets[event.key]) moveTo(list, targets[event.key](list), Boolean(selected) && event.shiftKey);
    else if (event.key === 'Enter' && at >= 0) list.onOpen(rows[at]);
    else if (!selected) return false;
    else if (event.key === ' ' && at >= 0) toggle(list, at);
    else if (all) onSelect(new Set(rows.map(keyOf)));
    else if (event.key === 'Escape' && selected.size > 0) onSelect(new Set());
    else return false;
    return true;
}

export const steps = {
    // `list.at`: the active row's index, -1: none.
    key(event, list) {
        if (press(event, list)) event.preventDefault();
    },
    point(event, index, list) {
        if (event.target.closest('a, button, input')) return;
        list.setActive(list.keyOf(list.rows[index]));
        if (list.selected && event.shiftKey) extend(list, index);
        else if (list.selected && (event.ctrlKey || event.metaKey)) toggle(list, index);
        else list.anchor.current = list.keyOf(list.rows[index]);
    },
    check(event, index, list) {
        if (list.selected.has(list.keyOf(list.rows[index])) !== event.target.checked) toggle(list, index);
    },
};
