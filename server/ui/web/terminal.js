// The terminal: a page of its own in a frame, because xterm.js writes style attributes. The page around it says what to run,
// never the address: a link must not run commands. What a guest prints can do nothing but be shown.
import { FitAddon } from './lib/fit.js';
import { Terminal } from './lib/xterm.js';
import { exec } from './exec.js';

const themes = {
    light: { background: '#ffffff', foreground: '#171a21', cursor: '#2349c4', selectionBackground: '#b9c8f5', brightBlack: '#596170', white: '#596170', brightWhite: '#171a21', yellow: '#855800', brightYellow: '#855800', green: '#17693f', brightGreen: '#17693f', cyan: '#0b6a80', brightCyan: '#0b6a80' },
    dark: { background: '#0d0f14', foreground: '#e6e9f0', cursor: '#7f9fff', selectionBackground: '#38466f' },
};

const terminal = new Terminal({
    fontSize: 14, fontFamily: 'ui-monospace, SFMono-Regular, monospace', scrollback: 5000, cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    linkHandler: { activate: () => {} },  // a link that the guest prints leads nowhere
});
const fit = new FitAddon();
let session = null, round = 0;

const tell = (message) => parent.postMessage(message, location.origin);
const ended = ({ status, error, lost }) => (lost ? 'The connection was lost.' : error ? error : `The command has ended with status ${status}.`);

async function open({ instance, command }) {
    const mine = ++round;
    session?.abort();
    terminal.reset();
    tell({ state: 'connecting' });
    let text;
    try {
        session = await exec(instance, {
            command, environment: { TERM: 'xterm-256color' }, terminal: { width: terminal.cols, height: terminal.rows },
            onOutput: (bytes) => mine === round && terminal.write(bytes),
        });
        tell({ state: 'open' });
        terminal.focus();
        // The frame may have got its size meanwhile.
        session.control.addEventListener('open', () => session.resize(terminal.cols, terminal.rows));
        text = ended(await session.done);
    } catch (error) {
        text = error.message;
    }
    if (mine !== round) return;
    session = null;
    terminal.write('\x1b[?25l');
    tell({ state: 'ended', text });
}

function theme(name) {
    document.body.className = name;
    terminal.options.theme = themes[name];
}

// Keys of the page, not of the guest. False: the terminal leaves them alone.
function ours(event) {
    if (event.key === 'Escape' && event.ctrlKey && (event.altKey || event.shiftKey)) {
        if (event.type === 'keydown') tell({ leave: true });
        return false;
    }
    if (event.ctrlKey && event.shiftKey && event.code === 'KeyC') {
        if (event.type === 'keydown') copy();
        event.preventDefault();
        return false;
    }
    return !(event.ctrlKey && event.shiftKey && event.code === 'KeyV');  // the browser pastes
}

// The browser may refuse; the page around the frame says so.
const clipboard = (action) => action().catch((error) => tell({ problem: `The browser refuses the clipboard: ${error.message}` }));
const copy = () => clipboard(() => navigator.clipboard.writeText(terminal.getSelection()));

const does = {
    open,
    theme,
    reader: (on) => { terminal.options.screenReaderMode = on; },
    focus: () => terminal.focus(),
    copy,
    paste: () => clipboard(async () => terminal.paste(await navigator.clipboard.readText())),
};

window.addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent || parent === window) return;
    for (const [name, value] of Object.entries(data)) if (Object.hasOwn(does, name)) does[name](value);
});
terminal.loadAddon(fit);
terminal.open(document.getElementById('terminal'));
terminal.attachCustomKeyEventHandler(ours);
fit.fit();
new ResizeObserver(() => fit.fit()).observe(document.getElementById('terminal'));
terminal.onResize(({ cols, rows }) => session?.resize(cols, rows));
const encoder = new TextEncoder();
terminal.onData((text) => session?.send(encoder.encode(text)));
terminal.onBinary((text) => session?.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
tell({ state: 'ready' });
