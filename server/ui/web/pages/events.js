// What happens, as it happens.
import { html, useEffect, useMemo, useState } from '../html.js';
import { setQuery } from '../router.js';
import { Empty, Page } from '../ui/elements.js';
import { count } from '../ui/format.js';
import { ObjectLink } from '../ui/objects.js';
import { save } from '../ui/save.js';
import { Feed, most } from './events/feed.js';
import { kindOf, objectsOf, textOf } from './events/texts.js';

const types = { lifecycle: 'Lifecycle', operation: 'Operations', logging: 'Log' };
const page = 200;  // rows that are shown at once

function useFeed() {
    const [state, setState] = useState({ events: [], waiting: 0, paused: false });
    const [feed] = useState(() => new Feed(setState));
    useEffect(() => () => feed.end(), [feed]);
    return [state, feed];
}

// As JSON lines, oldest first.
function download(events) {
    const lines = [...events].reverse().map((event) => `${JSON.stringify(event)}\n`);
    save(new Blob(lines, { type: 'application/jsonl' }), 'events.jsonl');
}

function Row({ event }) {
    const [open, setOpen] = useState(false);
    const text = textOf(event);
    return html`<li class="event">
        <time title=${event.timestamp}>${new Date(event.timestamp).toLocaleTimeString()}</time>
        <span class="state ${kindOf(event)}">${event.type}</span>
        <span class="event-text">${text} <span class="objects">${objectsOf(event).map((url) => html`<${ObjectLink} key=${url} url=${url} />`)}</span></span>
        <button class="small quiet" aria-expanded=${open} aria-label="JSON of event ${event.sequence ?? ''}" onClick=${() => setOpen(!open)}>${open ? 'Close' : 'JSON'}</button>
        ${open && html`<pre class="log" tabindex="0" role="region" aria-label="Event ${event.sequence ?? ''}">${JSON.stringify(event, null, 2)}</pre>`}
    </li>`;
}

function Actions({ feed, state, found }) {
    return html`<button onClick=${() => feed.setPaused(!state.paused)}>${state.paused ? `Resume${state.waiting ? ` (${state.waiting} waiting)` : ''}` : 'Pause'}</button>
        <button disabled=${state.replays} onClick=${() => feed.loadKept()}>Load what is kept</button>
        <button disabled=${found.length === 0} onClick=${() => download(found)}>Download</button>
        <button disabled=${state.events.length === 0} onClick=${() => feed.clear()}>Clear</button>`;
}

function Filters({ text, setText, wanted, setWanted }) {
    const turn = (type) => setWanted(wanted.includes(type) ? wanted.filter((other) => other !== type) : [...wanted, type]);
    return html`<div class="filters">
        <input type="search" class="filter" aria-label="Filter events" placeholder="Filter: text, object, level" value=${text} onInput=${(event) => setText(event.target.value)} />
        <fieldset class="kinds"><legend class="unseen">Types</legend>${Object.entries(types).map(([type, title]) => html`
            <label class="check" key=${type}><input type="checkbox" checked=${wanted.includes(type)} onChange=${() => turn(type)} /> ${title}</label>`)}</fieldset>
    </div>`;
}

function Found({ found, all }) {
    const [shown, setShown] = useState(page);
    if (all.length === 0) return html`<${Empty} title="Nothing has happened yet">Events are shown as they come. “Load what is kept” brings those of before, and <code>svcctl monitor</code> follows them on the command line.<//>`;
    if (found.length === 0) return html`<p class="hint">None of ${count(all.length, 'event')} matches.</p>`;
    return html`<ol class="events card" aria-label="Events">${found.slice(0, shown).map((event) => html`<${Row} key=${event.sequence ?? event.timestamp} event=${event} />`)}</ol>
        ${found.length > shown && html`<button onClick=${() => setShown(shown + page)}>Show more of ${count(found.length, 'event')}</button>`}`;
}

export default function Events({ place }) {
    const [state, feed] = useFeed();
    const [text, setText] = useState(place.query.get('filter') ?? '');
    const [wanted, setWanted] = useState(Object.keys(types));
    const found = useMemo(() => {
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        const matches = (event) => words.every((word) => JSON.stringify(event).toLowerCase().includes(word));
        return state.events.filter((event) => (event.type === 'gap' || wanted.includes(event.type)) && (words.length === 0 || matches(event)));
    }, [state.events, text, wanted]);
    const change = (value) => {
        setText(value);
        setQuery({ filter: value });
    };
    return html`<${Page} title="Events" actions=${html`<${Actions} feed=${feed} state=${state} found=${found} />`}>
        <${Filters} text=${text} setText=${change} wanted=${wanted} setWanted=${setWanted} />
        <p class="hint" role="status"><span class="state ${state.connected ? 'good' : 'busy'}">${state.connected ? (state.paused ? 'paused' : 'live') : 'not connected'}</span> ${count(found.length, 'event')} of ${state.events.length.toLocaleString()}; the newest ${most.toLocaleString()} are kept here${state.replays ? '. Older ones are being loaded' : ''}.</p>
        <${Found} found=${found} all=${state.events} />
    <//>`;
}
