// A list of thousands: only the rows in view are elements. Its keys: arrows, Home, End, Page Up and Down move, Space selects,
// Shift selects up to the row, Ctrl+A all, Escape none, Enter opens. Narrow windows show a card a row.
import { html, useEffect, useLayoutEffect, useRef, useState } from '../html.js';
import { steps } from './list_keys.js';

const spare = 6;      // rows beyond those in view
const rowHeight = 40;
const track = 'minmax(7rem, 1fr)';  // of a column that says nothing else
const leastOf = (width = track) => Number(/[\d.]+/.exec(width)[0]);  // rem
const cardLine = 25, cardFrame = 58;

export function useNarrow() {
    const query = useRef(matchMedia('(max-width: 40rem)')).current;
    const [narrow, setNarrow] = useState(query.matches);
    useEffect(() => {
        const follow = () => setNarrow(query.matches);
        query.addEventListener('change', follow);
        return () => query.removeEventListener('change', follow);
    }, []);
    return narrow;
}

// The rows in view, in steps so that not every pixel of scrolling draws.
function useRange(frame, height, count) {
    const [range, setRange] = useState([0, 2 * spare]);
    const look = () => {
        const { scrollTop, clientHeight } = frame.current;
        const from = Math.max(0, Math.floor(scrollTop / height / spare - 1) * spare);
        const to = (Math.ceil((scrollTop + clientHeight) / height / spare) + 1) * spare;
        setRange((former) => (former[0] === from && former[1] === to ? former : [from, to]));
    };
    useLayoutEffect(() => {
        look();
        const observer = new ResizeObserver(look);
        observer.observe(frame.current);
        return () => observer.disconnect();
    }, [height, count > 0]);
    return [Math.min(range[0], Math.max(0, count - 1)), Math.min(range[1], count), look];
}

// Moves the frame so that the row is seen under the heads.
function reveal(frame, head, index, height) {
    const top = index * height, seen = frame.clientHeight - head;
    if (top < frame.scrollTop) frame.scrollTop = top;
    else if (top + height > frame.scrollTop + seen) frame.scrollTop = top + height - seen;
}

function Head({ column, sort, onSort }) {
    if (!column.value) return html`<div role="columnheader">${column.title}</div>`;
    const active = sort.name === column.name;
    const order = active ? (sort.down ? 'descending' : 'ascending') : 'none';
    return html`<div role="columnheader" aria-sort=${order}><button class="sort" onClick=${() => onSort({ name: column.name, down: active && !sort.down })}>
        ${column.title}<span aria-hidden="true">${active ? (sort.down ? ' ▾' : ' ▴') : ''}</span></button></div>`;
}

const Check = ({ label, checked, onChange }) => html`<input type="checkbox" tabindex="-1" aria-label=${label} checked=${checked} onChange=${onChange} />`;

// A row that is as it was is not drawn again: while the list is scrolled only those that come into view are. `list`: a reference
// to the list as it is.
function Row({ row, index, columns, id, name, top, selected, active, pick, list }) {
    this.shouldComponentUpdate = (next) => Object.keys(next).some((key) => next[key] !== this.props[key]);
    const point = (event) => steps.point(event, index, list.current), check = (event) => steps.check(event, index, list.current);
    return html`<div role="row" id=${id} class="vrow ${active ? 'active' : ''}" aria-rowindex=${index + 2} aria-selected=${selected} style=${{ top: `${top}px` }} onClick=${point}>
        ${pick && html`<div role="gridcell" class="pick"><${Check} label="Select ${name}" checked=${selected} onChange=${check} /></div>`}
        ${columns.map((column) => html`<div role="gridcell" key=${column.name} class="cell-${column.name}" data-title=${column.title}>${column.show ? column.show(row) : column.value(row)}</div>`)}
    </div>`;
}

// `columns`: as those of a table, with `width` (of a grid's track, in rem). `keyOf(row)`, `nameOf(row)`. `selected`: a Set of keys, or
// nothing where rows cannot be selected. `sort`: { name, down }.
export function VirtualList({ columns, rows, keyOf, nameOf, label, selected, onSelect, onOpen, sort, onSort, prefix = 'row' }) {
    const frame = useRef(), head = useRef(), narrow = useNarrow();
    const [active, setActive] = useState(null), anchor = useRef(null);
    const height = narrow ? cardFrame + cardLine * (columns.length - 1) : rowHeight;
    const [from, to, look] = useRange(frame, height, rows.length);
    const move = (index) => {
        setActive(keyOf(rows[index]));
        reveal(frame.current, head.current.offsetHeight, index, height);
    };
    const context = { rows, keyOf, anchor, selected, onSelect, onOpen, move, setActive, page: () => Math.max(1, Math.floor(frame.current.clientHeight / height) - 1) };
    const latest = useRef();
    latest.current = context;
    const onKeyDown = (event) => event.target === frame.current && rows.length > 0 && steps.key(event, { ...context, at: rows.findIndex((row) => keyOf(row) === active) });
    const every = selected && rows.length > 0 && rows.every((row) => selected.has(keyOf(row)));
    const tracks = `${selected ? '2.4rem ' : ''}${columns.map(({ width }) => width ?? track).join(' ')}`;
    const least = columns.reduce((sum, { width }) => sum + leastOf(width), selected ? 3.4 : 0) + columns.length + 1;
    const shown = rows.slice(from, to);
    const activeShown = shown.some((row) => keyOf(row) === active);
    return html`<div class="vlist ${narrow ? 'cards' : ''}" role="grid" aria-label=${label} aria-rowcount=${rows.length + 1} aria-multiselectable=${Boolean(selected)}
        aria-activedescendant=${activeShown ? `${prefix}-${active}` : undefined} tabindex="0" ref=${frame} onScroll=${look} onKeyDown=${onKeyDown} style=${{ '--tracks': tracks, '--row': `${height}px`, '--least': `${least}rem` }}>
        <div role="rowgroup" class="vhead" ref=${head}><div role="row" class="vheads" aria-rowindex="1">
            ${selected && html`<div role="columnheader" class="pick"><${Check} label="Select all" checked=${every} onChange=${() => onSelect(new Set(every ? [] : rows.map(keyOf)))} /></div>`}
            ${columns.map((column) => html`<${Head} key=${column.name} ...${{ column, sort, onSort }} />`)}</div></div>
        <div role="rowgroup" class="vbody" style=${{ height: `${rows.length * height}px` }}>${shown.map((row, offset) => {
            const index = from + offset, key = keyOf(row), isActive = key === active, isSelected = selected?.has(key) ?? false, pick = Boolean(selected);
            return html`<${Row} key=${key} id="${prefix}-${key}" name=${nameOf(row)} top=${index * height} active=${isActive} selected=${isSelected} list=${latest} ...${{ row, index, columns, pick }} />`;
        })}</div>
    </div>`;
}
