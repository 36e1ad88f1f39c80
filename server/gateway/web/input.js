// Keyboard, mouse, wheel and touch on an element, as messages of the control channel.
import { contentOf } from './clipboard.js';
import { imeText, keyCode, meaningOf } from './keys.js';

const buttons = { 0: 1, 1: 2, 2: 3, 3: 4, 4: 5 };  // of PointerEvent.button
const touchSlots = 10;
const composing = 229;  // KeyboardEvent.keyCode of what an input method takes
const wheelStep = 40;  // pixels that make one step

// What the browser composes (dead keys, input methods, emoji) needs a place to be written; phones show no keyboard for it.
function typingField() {
    const field = document.createElement('textarea');
    Object.assign(field, { inputMode: 'none', autocomplete: 'off', autocapitalize: 'off', spellcheck: false, tabIndex: -1 });
    Object.assign(field.style, { position: 'absolute', left: 0, bottom: 0, width: '1px', height: '1px', padding: 0, border: 0, opacity: 0, resize: 'none', pointerEvents: 'none' });
    return field;
}

const modifiers = /^(Control|Alt|Shift)(Left|Right)$/;
const modifierKeys = new Set(['Control', 'Alt', 'Shift']);  // of KeyboardEvent.key

// Leaves the capture of keys, for those who have no mouse: Control + Alt + Escape. Some desktops keep that for
// themselves; with Control + Alt + Shift, let go before another key comes, it is no keydown that tells.
export function isLeaveChord(event) {
    return event.ctrlKey && event.altKey && event.code === 'Escape';
}

// What browsers paste with.
function pastes({ key, code, ctrlKey, metaKey, shiftKey, altKey }) {
    if (altKey) return false;
    return ctrlKey || metaKey ? key.toLowerCase() === 'v' : shiftKey && code === 'Insert';
}

export class Input {
    // `element` has the focus and the events; `video` lies in it, letterboxed; `send(type, data)`. `places`: keys go by their
    // place, whatever they write. `clipboard`: what is pasted goes there first.
    constructor({ element, video, send, onLeave = () => document.activeElement?.blur(), places = false, clipboard }) {
        this.clipboard = clipboard;
        this.places = places;
        this.field = typingField();
        this.field.setAttribute('aria-label', element.getAttribute('aria-label') ?? 'Keys for the instance');
        element.append(this.field);
        this.video = video;
        this.element = element;
        this.send = (type, data) => send(`input::${type}`, data);
        this.onLeave = onLeave;
        this.keys = new Map();  // KeyboardEvent.code -> our code, of what is down
        this.modifiers = new Map();  // KeyboardEvent.code -> its modifier, of what is down
        this.buttons = new Set();
        this.touches = new Map();  // pointerId -> slot
        this.wheel = { x: 0, y: 0 };
        this.abort = new AbortController();
        this.listen();
        if (document.activeElement === element) this.focus();
    }

    focus() {
        if (document.activeElement !== this.field) this.field.focus({ preventScroll: true });
    }

    listen() {
        const on = (target, name, handler, passive = false) =>
            target.addEventListener(name, handler.bind(this), { signal: this.abort.signal, passive });
        on(this.element, 'keydown', this.keyDown);
        on(this.element, 'keyup', this.keyUp);
        on(this.element, 'pointerdown', this.pointerDown);
        on(this.element, 'pointermove', this.pointerMove);
        on(this.element, 'pointerup', this.pointerUp);
        on(this.element, 'pointercancel', this.pointerUp);
        on(this.element, 'wheel', this.wheelTurned);
        on(this.element, 'contextmenu', (event) => event.preventDefault());
        on(this.element, 'focus', this.focus);
        on(this.element, 'focusout', ({ relatedTarget }) => this.element.contains(relatedTarget) || this.releaseAll());
        on(this.field, 'input', ({ isComposing }) => isComposing || this.written());
        on(this.field, 'compositionend', this.written);
        on(this.field, 'paste', this.pasted);
        on(window, 'blur', this.releaseAll);
        on(document, 'visibilitychange', () => document.hidden && this.releaseAll());
    }

    close() {
        this.releaseAll();
        this.abort.abort();
        this.field.remove();
    }

    // Pixels of the guest's display under a point of the page, inside the display; nothing before the first picture.
    toDisplay(clientX, clientY) {
        const { videoWidth: width, videoHeight: height } = this.video;
        if (!width || !height) return undefined;
        const box = this.video.getBoundingClientRect();
        const scale = Math.min(box.width / width, box.height / height);
        const left = box.left + (box.width - width * scale) / 2;
        const top = box.top + (box.height - height * scale) / 2;
        const within = (value, size) => Math.min(Math.max(value, 0), size - 1);
        return { x: within((clientX - left) / scale, width), y: within((clientY - top) / scale, height), scale };
    }

    keyDown(event) {
        if (isLeaveChord(event)) return this.leave(event);
        this.chord = event.ctrlKey && event.altKey && event.shiftKey && modifiers.test(event.code);
        this.releaseModifiers(event);
        if (event.isComposing || event.key === 'Dead' || event.key === 'Process' || event.keyCode === composing) return undefined;
        if (this.clipboard?.canPaste && pastes(event)) return this.beginPaste(event);
        event.preventDefault();
        if (event.key === 'AltGraph') return this.thirdLevel();
        if (event.key === 'CapsLock' && !this.places) return undefined;  // the characters it makes are sent as such
        const { code, text } = this.places && keyCode(event.code) !== undefined ? { code: keyCode(event.code) } : meaningOf(event);
        if (text !== undefined) this.text(text);
        else if (code !== undefined && !this.keys.has(event.code)) {
            this.press(event.code, code, modifierKeys.has(event.key) ? event.key : undefined);
        }
        return undefined;
    }

    // A menu of the browser's own, which opens in Firefox with Shift and the right button, does not tell of keys that are let go.
    releaseModifiers(event) {
        for (const [name, modifier] of [...this.modifiers]) {
            if (name !== event.code && !event.getModifierState(modifier)) this.key(name, this.keys.get(name), false);
        }
    }

    // What it makes goes as text. On Windows it begins as a Control key.
    thirdLevel() {
        if (this.keys.has('ControlLeft')) this.key('ControlLeft', this.keys.get('ControlLeft'), false);
    }

    leave(event) {
        event.preventDefault();
        this.chord = false;
        this.releaseAll();
        this.onLeave();
    }

    // What the browser has composed.
    written() {
        const text = this.field.value;
        this.field.value = '';
        if (text) this.text(text);
    }

    // The browser's own paste event follows, with what the user has. The keys wait until the instance has it.
    beginPaste(event) {
        if (event.repeat) return event.preventDefault();
        return this.pasting = { name: event.code, code: meaningOf(event).code, shift: event.shiftKey, control: event.ctrlKey || event.metaKey };
    }

    async pasted(event) {
        event.preventDefault();
        const chord = this.pasting, content = contentOf(event.clipboardData);
        this.pasting = undefined;
        if (content !== undefined) await this.clipboard?.paste(content);
        if (chord) this.pressChord(chord);
    }

    // What is held already stays; an Apple's Command is Control there.
    pressChord({ code, shift, control }) {
        if (this.abort.signal.aborted) return;
        for (const [name, other] of [...this.keys]) if (name.startsWith('Meta')) this.key(name, other, false);
        const held = [control && 'ControlLeft', shift && 'ShiftLeft'].filter(Boolean).map(keyCode)
            .filter((modifier) => ![...this.keys.values()].includes(modifier));
        const press = (pressed) => (modifier) => this.send('key', { code: modifier, pressed });
        held.forEach(press(true));
        [true, false].forEach((pressed) => press(pressed)(code));
        held.reverse().forEach(press(false));
    }

    // It is the character already: what is held to make it would make another one of it.
    text(text) {
        const held = [...this.keys].filter(([name]) => modifiers.test(name));
        const named = new Map(this.modifiers);
        for (const [name, code] of held) this.key(name, code, false);
        this.send('ime-event', { type: imeText, data: { text } });
        for (const [name, code] of held) if (name.startsWith('Shift')) this.press(name, code, named.get(name));
    }

    keyUp(event) {
        if (this.chord) return this.leave(event);
        if (this.pasting?.name === event.code) return this.pasteUnheard();
        const code = this.keys.get(event.code);
        if (code === undefined) return undefined;
        event.preventDefault();
        this.key(event.code, code, false);
        // Apple's browsers do not tell of keys that are let go while Command is down.
        if (event.code.startsWith('Meta')) for (const [name, other] of [...this.keys]) this.key(name, other, false);
        return undefined;
    }

    // The browser had nothing to paste.
    pasteUnheard() {
        const chord = this.pasting;
        this.pasting = undefined;
        this.pressChord(chord);
    }

    press(name, code, modifier) {
        this.key(name, code, true);
        if (modifier) this.modifiers.set(name, modifier);
    }

    key(name, code, pressed) {
        if (pressed) this.keys.set(name, code);
        else {
            this.keys.delete(name);
            this.modifiers.delete(name);
        }
        this.send('key', { code, pressed });
    }

    pointerDown(event) {
        const at = this.toDisplay(event.clientX, event.clientY);
        if (!at) return;
        event.preventDefault();
        this.releaseModifiers(event);
        this.focus();
        if (event.isTrusted) this.element.setPointerCapture(event.pointerId);
        if (event.pointerType === 'touch') this.touchStart(event, at);
        else this.button(event, at, true);
    }

    pointerMove(event) {
        const at = this.toDisplay(event.clientX, event.clientY);
        if (!at) return;
        if (event.pointerType === 'touch') this.touchMove(event, at);
        else {
            this.releaseModifiers(event);
            this.mouseMove(event, at);
            // A further button that goes down or up while one is down comes as a move.
            if (event.button >= 0) this.button(event, at, !this.buttons.has(buttons[event.button]));
        }
    }

    pointerUp(event) {
        if (event.pointerType === 'touch') this.touchEnd(event);
        else this.button(event, this.toDisplay(event.clientX, event.clientY), false);
    }

    mouseMove(event, at) {
        const movement = { rx: Math.round(event.movementX), ry: Math.round(event.movementY) };
        const locked = document.pointerLockElement === this.element;
        this.send('mouse-move', locked ? movement : { ...movement, x: at.x, y: at.y });
    }

    button(event, at, pressed) {
        const button = buttons[event.button];
        if (button === undefined || pressed === this.buttons.has(button)) return;
        event.preventDefault();
        if (pressed) this.mouseMove(event, at);
        this.setButton(button, pressed);
    }

    setButton(button, pressed) {
        if (pressed) this.buttons.add(button);
        else this.buttons.delete(button);
        this.send('mouse-button', { button, pressed });
    }

    wheelTurned(event) {
        event.preventDefault();
        const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : wheelStep;
        this.wheel.x += event.deltaX * pixels;
        this.wheel.y += event.deltaY * pixels;
        const step = (sum) => (Math.abs(sum) < wheelStep ? 0 : Math.sign(sum));
        const steps = { x: step(this.wheel.x), y: -step(this.wheel.y) };
        if (!steps.x && !steps.y) return;
        this.wheel = { x: 0, y: 0 };
        this.send('mouse-wheel', { x: steps.x, y: steps.y || 0 });
    }

    touchStart(event, { x, y }) {
        const used = new Set(this.touches.values());
        const slot = Array.from({ length: touchSlots }, (_, index) => index).find((index) => !used.has(index));
        if (slot === undefined) return;
        this.touches.set(event.pointerId, slot);
        this.send('touch-start', { id: slot, x, y });
    }

    touchMove(event, { x, y }) {
        const slot = this.touches.get(event.pointerId);
        if (slot !== undefined) this.send('touch-move', { id: slot, x, y });
    }

    touchEnd(event) {
        const slot = this.touches.get(event.pointerId);
        if (slot === undefined) return;
        this.touches.delete(event.pointerId);
        this.send('touch-end', { id: slot, last: this.touches.size === 0 });
    }

    // Nothing stays down in the guest when the events go elsewhere.
    releaseAll() {
        for (const [name, code] of [...this.keys]) this.key(name, code, false);
        for (const button of [...this.buttons]) this.setButton(button, false);
        for (const pointerId of [...this.touches.keys()]) this.touchEnd({ pointerId });
    }
}
