// The logs of the instance: chosen, followed, searched.
import { html, useEffect, useMemo, useRef, useState } from '../../html.js';
import { go } from '../../router.js';
import { count } from '../../ui/format.js';
import { Empty, Failure } from '../../ui/elements.js';
import { save } from '../../ui/save.js';
import { LogLines } from './log_lines.js';
import { follow, sourcesOf, whole } from './log_sources.js';
import { isUp } from './needs.js';

const most = 5000;   // lines that are kept
const block = 200;   // lines of an element, so that the browser lays out only what is seen
const pace = 100;    // milliseconds between two changes of what is shown

// The lines of a source; { lines, turn, error, ended }.
function useLog(record, source, paused) {
    const [state, setState] = useState({ turn: 0 });
    const held = useRef(paused), lines = useMemo(() => new LogLines(most), [source]);
    held.current = paused;
    useEffect(() => {
        if (!source) return undefined;
        const abort = new AbortController();
        let timer = null;
        const show = (more) => abort.signal.aborted || setState((now) => ({ ...now, ...more, turn: now.turn + 1 }));
        const soon = () => { timer ??= setTimeout(() => { timer = null; if (!held.current) show(); }, pace); };
        setState({ turn: 0 });
        follow(record, source, { lines: most, signal: abort.signal, take: (text) => { lines.add(text); soon(); } })
            .then(() => show({ ended: true }), (error) => error.name !== 'AbortError' && show({ error, ended: true }));
        return () => {
            clearTimeout(timer);
            abort.abort();
        };
    }, [record.id, source]);
    return { ...state, lines };
}

// By their numbers: a block stays the same element when older lines go.
function blocksOf(lines) {
    const blocks = new Map();
    for (const line of lines) {
        const at = Math.floor(line.number / block);
        blocks.has(at) ? blocks.get(at).push(line) : blocks.set(at, [line]);
    }
    return [...blocks];
}

function Lines({ shown, wrap, follows }) {
    const frame = useRef(), atEnd = useRef(true);
    useEffect(() => {
        if (follows && atEnd.current) frame.current.scrollTop = frame.current.scrollHeight;
    });
    const scrolled = ({ target }) => { atEnd.current = target.scrollHeight - target.scrollTop - target.clientHeight < 30; };
    return html`<div class="log lines ${wrap ? '' : 'unwrapped'}" ref=${frame} onScroll=${scrolled} tabindex="0" role="log" aria-live="off" aria-label="Lines">
        ${blocksOf(shown).map(([at, lines]) => html`<div key=${at} class="line-block">${lines.map(({ number, text }) => html`<div key=${number} dir="ltr"><bdi>${text || ' '}</bdi></div>`)}</div>`)}</div>`;
}

function Shown({ record, source, begin }) {
    const [paused, setPaused] = useState(false), [wrap, setWrap] = useState(true), [wanted, setWanted] = useState('');
    const { lines, error, ended, turn } = useLog(record, source, paused);
    const shown = useMemo(() => lines.shown(wanted), [lines, wanted, turn, paused]);
    const download = () => begin('Fetching the log', async (progress) => save(await whole(record, source, progress), `${record.name || record.id}-${source.name.replace(/\W+/g, '-')}.log`));
    const state = error ? '' : ended ? 'Whole' : paused ? 'Paused' : 'Following';
    return html`
        <div class="toolbar"><input type="search" class="grow" aria-label="Search" placeholder="Search" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />
            <label class="check"><input type="checkbox" checked=${wrap} onChange=${() => setWrap(!wrap)} /> Wrap</label>
            ${!ended && html`<button onClick=${() => setPaused(!paused)}>${paused ? 'Go on' : 'Pause'}</button>`}
            <button onClick=${download}>Download</button></div>
        ${error && html`<${Failure} error=${error} />`}
        ${shown.length > 0 && html`<${Lines} shown=${shown} wrap=${wrap} follows=${!paused && !ended} />`}
        <p class="hint" role="status">${state}${state && ', '}${count(shown.length, 'line')}${wanted && ` with “${wanted}”`}${lines.dropped > 0 && `; ${lines.dropped.toLocaleString()} older ones are left out here, not in the download`}</p>`;
}

function Chooser({ record, sources, chosen, readable }) {
    const other = (event) => {
        event.preventDefault();
        go('instances', record.id, 'logs', 'file', new FormData(event.target).get('path'));
    };
    return html`<div class="toolbar"><label>Log <select value=${chosen?.path ? '' : chosen?.name} onChange=${(event) => event.target.value && go('instances', record.id, 'logs', event.target.value)}>
            ${chosen?.path && html`<option value="">${chosen.path}</option>`}
            ${sources.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}</select></label>
        ${readable && html`<form class="toolbar grow" onSubmit=${other}><input class="grow" name="path" required aria-label="A file in the instance" placeholder="or a file, such as /var/log/messages" defaultValue=${chosen?.path ?? ''} /><button>Follow</button></form>`}</div>`;
}

export default function Logs({ me, record, begin, deeper }) {
    const readable = me.may('operator') && isUp(record);
    const sources = useMemo(() => sourcesOf(record, readable), [record.stored_logs?.join(), readable]);
    const [name, path] = deeper;
    const chosen = useMemo(() => (name === 'file' && readable ? { name: path, title: path, path } : sources.find((source) => source.name === name) ?? sources[0]), [sources, name, path]);
    if (!chosen) return html`<${Empty} title="No logs">Logs are read in an instance that runs, by operators; of one that failed they are kept. <code>svcctl logs ${record.id}</code><//>`;
    return html`<div class="stack"><${Chooser} ...${{ record, sources, chosen, readable }} /><${Shown} key=${chosen.name} ...${{ record, source: chosen, begin }} /></div>`;
}
