// A hidden text field that brings up a phone's keyboard: what is typed into it goes to the guest as text and keys.
import { isLeaveChord } from './input.js';
import { imeDelete, imeKeycode, imeText, keyCode } from './keys.js';

// Stands before the text, so that there is something to delete.
const padding = ' '.repeat(32);
const longest = 200;
const keysThatAreNoText = ['Enter', 'Tab', 'Escape', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown', 'Delete'];

// How many characters to delete at the end of `before`, and what to add, to get `after`.
export function difference(before, after) {
    const old = [...before], now = [...after];
    let same = 0;
    while (same < old.length && same < now.length && old[same] === now[same]) same += 1;
    return { deleted: old.length - same, added: now.slice(same).join('') };
}

export class TextInput {
    // `send(type, data)` writes to the control channel; `onLeave()`: the keys are to be the page's again.
    constructor(field, send, onLeave = () => field.blur()) {
        Object.assign(this, { field, send, onLeave });
        this.abort = new AbortController();
        const on = (name, handler) => field.addEventListener(name, handler.bind(this), { signal: this.abort.signal });
        on('input', this.changed);
        on('keydown', this.keyDown);
        on('focus', this.reset);
        this.reset();
    }

    close() {
        this.abort.abort();
        this.field.blur();
    }

    reset() {
        this.field.value = padding;
        this.before = padding;
        this.field.setSelectionRange(padding.length, padding.length);
    }

    changed(event) {
        const { deleted, added } = difference(this.before, this.field.value);
        this.before = this.field.value;
        if (deleted) this.send('input::ime-event', { type: imeKeycode, data: { code: imeDelete, times: deleted } });
        if (added) this.send('input::ime-event', { type: imeText, data: { text: added } });
        // Not in the middle of a word: the phone's keyboard would lose what it composes.
        const { length } = this.field.value;
        if (!event.isComposing && (length < padding.length / 2 || length > longest)) this.reset();
    }

    // Keys that are no text: a newline would be taken by the field.
    keyDown(event) {
        if (isLeaveChord(event)) {
            event.preventDefault();
            this.onLeave();
            return;
        }
        const code = event.key === 'Enter' ? keyCode('Enter') : keyCode(event.code);
        if (event.isComposing || code === undefined) return;
        if (!keysThatAreNoText.includes(event.key)) return;
        event.preventDefault();
        this.send('input::key', { code, pressed: true });
        this.send('input::key', { code, pressed: false });
    }
}
