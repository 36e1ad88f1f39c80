// Shells in the instance, in tabs. They live as long as this tab of the page is shown.
import { html, useRef, useState } from '../../html.js';
import { wordsOf } from '../../ui/words.js';
import { TerminalFrame } from './terminal_frame.js';
import { NeedsRunning } from './needs.js';

const key = 'svc-terminal-command';
const shells = ['/bin/sh -l', '/bin/bash -l', '/system/bin/sh'];
const mostTabs = 8;
let next = 1;

const fresh = (command) => ({ id: next++, command });
const lastCommand = () => localStorage.getItem(key) ?? shells[0];
// What opens by itself is a shell: a page of somebody else may have linked here, and no link repeats a command.
const lastShell = () => (shells.includes(lastCommand()) ? lastCommand() : shells[0]);

function useTabs() {
    const [state, setState] = useState(() => {
        const first = fresh(lastShell());
        return { tabs: [first], current: first.id };
    });
    const add = (command) => setState(({ tabs }) => {
        const tab = fresh(command);
        return { tabs: [...tabs, tab].slice(0, mostTabs), current: tab.id };
    });
    const close = (id) => setState(({ tabs, current }) => {
        const left = tabs.filter((tab) => tab.id !== id);
        return { tabs: left, current: current === id ? left.at(-1)?.id : current };
    });
    return { ...state, add, close, choose: (id) => setState((now) => ({ ...now, current: id })) };
}

function Strip({ tabs, current, choose, close, refOf }) {
    return html`<div class="terminal-tabs" role="group" aria-label="Terminals">${tabs.map(({ id, command }, at) => html`
        <span key=${id} class=${id === current ? 'chosen' : ''}><button class="small" aria-pressed=${id === current} ref=${id === current ? refOf : undefined}
            onClick=${() => choose(id)}>${at + 1}: <bdi>${command.slice(0, 24)}</bdi></button><button class="small quiet" aria-label="Close terminal ${at + 1}" onClick=${() => close(id)}>✕</button></span>`)}</div>`;
}

function Terminals({ record }) {
    const { tabs, current, add, close, choose } = useTabs();
    const [reader, setReader] = useState(localStorage.getItem('svc-terminal-reader') === 'yes');
    const chosen = useRef();
    const open = (event) => {
        event.preventDefault();
        const command = new FormData(event.target).get('command').trim() || shells[0];
        localStorage.setItem(key, command);
        add(command);
    };
    const read = (event) => {
        localStorage.setItem('svc-terminal-reader', event.target.checked ? 'yes' : 'no');
        setReader(event.target.checked);
    };
    return html`<div class="stack">
        <form class="toolbar" onSubmit=${open}><label class="grow">Command <input class="grow" name="command" list="shells" autocomplete="off" spellcheck="false" defaultValue=${lastCommand()} /></label>
            <datalist id="shells">${shells.map((shell) => html`<option key=${shell} value=${shell} />`)}<option value="su - " /></datalist>
            <button disabled=${tabs.length >= mostTabs}>Open another</button>
            <label class="check"><input type="checkbox" checked=${reader} onChange=${read} /> For screen readers</label></form>
        <${Strip} ...${{ tabs, current, choose, close }} refOf=${chosen} />
        ${tabs.map(({ id, command }) => html`<${TerminalFrame} key=${id} shown=${id === current} instance=${record.id} command=${wordsOf(command)} reader=${reader}
            onLeave=${() => chosen.current?.focus()} />`)}
        ${tabs.length === 0 && html`<p class="hint">No terminal is open.</p>`}
        <p class="hint">All keys go to the guest. <kbd>Ctrl</kbd>+<kbd>Alt</kbd>+<kbd>Escape</kbd> (or <kbd>Ctrl</kbd>+<kbd>Shift</kbd>+<kbd>Escape</kbd>) leaves the terminal; <kbd>Ctrl</kbd>+<kbd>Shift</kbd>+<kbd>C</kbd> copies what is selected,
            <kbd>Ctrl</kbd>+<kbd>Shift</kbd>+<kbd>V</kbd> pastes. The same: <code>svcctl shell ${record.id}</code></p>
    </div>`;
}

export default function Terminal({ record }) {
    return html`<${NeedsRunning} record=${record} what="Terminals"><${Terminals} record=${record} /><//>`;
}
