// A row of keys that phones do not have and browsers keep for themselves. Ctrl, Alt, Shift and Super stay down until
// the next key.
import { imeText, keyCode } from './keys.js';

const keys = [
    ['Esc', 'Escape'], ['Tab', 'Tab'], ['Ctrl', 'ControlLeft'], ['Alt', 'AltLeft'], ['Shift', 'ShiftLeft'], ['Super', 'MetaLeft'],
    ['←', 'ArrowLeft', 'Left'], ['↑', 'ArrowUp', 'Up'], ['↓', 'ArrowDown', 'Down'], ['→', 'ArrowRight', 'Right'],
    ['Home', 'Home'], ['End', 'End'], ['PgUp', 'PageUp', 'Page up'], ['PgDn', 'PageDown', 'Page down'], ['Del', 'Delete', 'Delete'],
    ...Array.from({ length: 12 }, (_, index) => [`F${index + 1}`, `F${index + 1}`]),
];
const modifiers = new Set(['ControlLeft', 'AltLeft', 'ShiftLeft', 'MetaLeft']);

// The key of a US keyboard that types a character without another one; nothing: there is none.
function keyOf(character) {
    if (/^[a-z]$/i.test(character)) return `Key${character.toUpperCase()}`;
    if (/^\d$/.test(character)) return `Digit${character}`;
    return { ' ': 'Space', '-': 'Minus', '=': 'Equal', '/': 'Slash', '.': 'Period', ',': 'Comma' }[character];
}

export class ExtraKeys {
    // `send(type, data)` writes to the control channel.
    constructor(bar, send) {
        this.write = send;
        this.held = new Map();  // name -> button
        bar.replaceChildren(...keys.map((key) => this.button(...key)));
    }

    button(text, name, label = text) {
        const button = document.createElement('button');
        Object.assign(button, { type: 'button', textContent: text });
        button.dataset.key = name;
        if (label !== text) button.setAttribute('aria-label', label);
        if (modifiers.has(name)) button.setAttribute('aria-pressed', 'false');
        button.addEventListener('pointerdown', (event) => event.preventDefault());  // a phone's keyboard stays open
        button.addEventListener('click', () => (modifiers.has(name) ? this.toggle(name, button) : this.press(name)));
        return button;
    }

    key(name, pressed) {
        this.write('input::key', { code: keyCode(name), pressed });
    }

    press(name) {
        this.key(name, true);
        this.key(name, false);
        this.release();
    }

    toggle(name, button) {
        const pressed = !this.held.has(name);
        if (pressed) this.held.set(name, button);
        else this.held.delete(name);
        button.setAttribute('aria-pressed', String(pressed));
        this.key(name, pressed);
    }

    // What is typed while one is down is a key and no text.
    send(type, data) {
        const name = this.held.size && type === 'input::ime-event' && data.type === imeText ? keyOf(data.data.text) : undefined;
        if (name) this.press(name);
        else {
            this.write(type, data);
            if (this.held.size && type === 'input::key' && !data.pressed) this.release();
        }
    }

    release() {
        for (const [name, button] of [...this.held]) this.toggle(name, button);
    }
}
