// The list of all instances: filtered, sorted, selected.
import { html, useCallback, useEffect, useMemo, useState } from '../../html.js';
import { list } from '../../api.js';
import { useFleet } from '../../fleet.js';
import { go, setQuery } from '../../router.js';
import { Empty, Failure, Page, Spinner } from '../../ui/elements.js';
import { useLoaded } from '../../ui/loaded.js';
import { useRun } from '../../ui/run.js';
import { RunProgress } from '../../ui/run_progress.js';
import { useNarrow, VirtualList } from '../../ui/virtual_list.js';
import { Actions } from './actions.js';
import { ColumnsButton, SortChoice } from './choices.js';
import { chosenColumns, columnsFor, nameOf, sorted } from './columns.js';
import { parseFilter } from './filter.js';
import { FilterBar } from './filter_bar.js';

// Names of images by id; without them their ids are shown.
function useImageNames() {
    const { value = [] } = useLoaded((signal) => list('/1.0/images', { signal }));
    return useMemo(() => new Map(value.map(({ id, name }) => [id, name])), [value]);
}

const First = ({ me }) => html`<${Empty} title="No instance yet">
    ${me.may('operator') ? html`<a class="button primary" href="#/instances/launch">Launch an instance</a>` : 'Whoever may launch instances starts here.'}
    ${' '}On the command line: <code>svcctl launch APPLICATION</code><//>`;

const Nothing = ({ onClear }) => html`<${Empty} title="No instance matches the filter"><button onClick=${onClear}>Show all</button><//>`;

function useSelection(matching) {
    const [chosen, setChosen] = useState(new Set());
    const rows = useMemo(() => (chosen.size === 0 ? [] : matching.filter(({ id }) => chosen.has(id))), [chosen, matching]);
    return { chosen, setChosen, rows };
}

// The selection, and what can be done with it.
function Selection({ matching, selection, busy }) {
    const { rows, setChosen } = selection;
    const some = rows.length > 0;
    const turn = () => setChosen(new Set(some ? [] : matching.map(({ id }) => id)));
    return html`<div class="selection"><span role="status">${some ? `${rows.length.toLocaleString()} selected` : 'None selected'}</span>
        <button class="small turn" disabled=${matching.length === 0} onClick=${turn}>${some ? 'Select none' : `Select all ${matching.length.toLocaleString()}`}</button>
        <${Actions} rows=${rows} busy=${busy} /></div>`;
}

function useFound(fleet, text, images, columns, sort) {
    const filter = useMemo(() => parseFilter(text, images), [text, images]);
    const ordered = useMemo(() => sorted(fleet.rows, columns.find(({ name }) => name === sort.name), sort.down), [fleet.rows, columns, sort]);
    const found = useMemo(() => ordered.filter(filter.test), [ordered, filter]);
    return { filter, found };
}

const Launch = ({ me }) => (me.may('operator') ? html`<a class="button primary" href="#/instances/launch">Launch</a>` : null);

export default function InstanceList({ me, place }) {
    const fleet = useFleet(), run = useRun(), images = useImageNames(), narrow = useNarrow();
    const [text, setText] = useState(place.query.get('filter') ?? '');
    useEffect(() => setText(place.query.get('filter') ?? ''), [place]);
    const [sort, setSort] = useState({ name: 'created', down: true });
    const [turn, setTurn] = useState(0);
    const all = useMemo(() => columnsFor(images), [images]);
    const { filter, found } = useFound(fleet, text, images, all, sort);
    const selection = useSelection(found);
    const change = useCallback((value) => {
        setText(value);
        setQuery({ filter: value });
    }, []);
    const columns = useMemo(() => chosenColumns(all), [all, turn]), may = me.may('operator');
    const actions = html`<${ColumnsButton} all=${all} chosen=${columns} onChange=${() => setTurn(turn + 1)} /><${Launch} me=${me} />`;
    const empty = fleet.complete && fleet.rows.length === 0;
    return html`<${Page} title="Instances" actions=${actions}>
        ${fleet.error && html`<${Failure} error=${fleet.error} />`}
        <${RunProgress} run=${run} />
        ${empty ? html`<${First} me=${me} />` : !fleet.complete && fleet.rows.length === 0 ? !fleet.error && html`<${Spinner} text="Loading instances" />` : html`
            <${FilterBar} ...${{ text, filter, rows: fleet.rows, images, onChange: change }} found=${found.length} total=${fleet.total} loading=${!fleet.complete} />
            ${narrow && html`<${SortChoice} columns=${columns} sort=${sort} onSort=${setSort} />`}
            ${may && html`<${Selection} matching=${found} selection=${selection} busy=${run && !run.ended} />`}
            ${found.length === 0 ? html`<${Nothing} onClear=${() => change('')} />` : html`
                <${VirtualList} label="Instances" columns=${columns} rows=${found} keyOf=${(row) => row.id} nameOf=${nameOf} sort=${sort} onSort=${setSort}
                    selected=${may ? selection.chosen : undefined} onSelect=${selection.setChosen} onOpen=${(row) => go('instances', row.id)} />`}`}
    <//>`;
}
