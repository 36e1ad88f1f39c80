// Key codes of the control channel (`input::key`) by KeyboardEvent.code.
const table = new Map();

function number(names, first) {
    names.forEach((name, index) => table.set(name, first + index));
}

number([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter) => `Key${letter}`), 4);
number([...'1234567890'].map((digit) => `Digit${digit}`), 30);
number(['Enter', 'Escape', 'Backspace', 'Tab', 'Space', 'Minus', 'Equal', 'BracketLeft', 'BracketRight'], 40);
number(['Backslash', 'Quote', 'Semicolon'], 49);
number(['Comma', 'Period', 'Slash', 'CapsLock'], 54);
number(Array.from({ length: 12 }, (_, index) => `F${index + 1}`), 58);
number(['PrintScreen', 'ScrollLock', 'Pause', 'Insert', 'Home', 'PageUp', 'Delete', 'End', 'PageDown'], 70);
number(['ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp'], 79);
number(['ControlLeft', 'ShiftLeft', 'AltLeft', 'MetaLeft', 'AltRight', 'NumLock'], 83);
number(['AudioVolumeDown', 'AudioVolumeUp', 'Power', 'BrowserBack'], 89);

const same = {
    ControlRight: 'ControlLeft', ShiftRight: 'ShiftLeft', MetaRight: 'MetaLeft', NumpadEnter: 'Enter', NumpadSubtract: 'Minus',
    NumpadDecimal: 'Period', NumpadDivide: 'Slash', NumpadEqual: 'Equal', NumpadComma: 'Comma', VolumeDown: 'AudioVolumeDown',
    VolumeUp: 'AudioVolumeUp', OSLeft: 'MetaLeft', OSRight: 'MetaLeft',
};
for (const [name, other] of Object.entries(same)) table.set(name, table.get(other));
for (const digit of '1234567890') table.set(`Numpad${digit}`, table.get(`Digit${digit}`));

// Android's code of the delete key, for `input::ime-event`.
export const imeDelete = 67;
export const imeText = 1;
export const imeKeycode = 2;

// Nothing for keys that have no code.
export function keyCode(code) {
    return table.get(code);
}

// What a US keyboard makes of each key, and with Shift.
const characters = new Map();
const rows = { Minus: '-_', Equal: '=+', BracketLeft: '[{', BracketRight: ']}', Backslash: '\\|', Quote: '\'"', Semicolon: ';:', Comma: ',<', Period: '.>', Slash: '/?' };
for (const [name, [plain, shifted]] of Object.entries(rows)) {
    characters.set(plain, { code: keyCode(name), shift: false });
    characters.set(shifted, { code: keyCode(name), shift: true });
}
[...')!@#$%^&*('].forEach((shifted, digit) => {
    characters.set(String(digit), { code: keyCode(`Digit${digit}`), shift: false });
    characters.set(shifted, { code: keyCode(`Digit${digit}`), shift: true });
});
for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
    const code = keyCode(`Key${letter.toUpperCase()}`);
    characters.set(letter, { code, shift: false });
    characters.set(letter.toUpperCase(), { code, shift: true });
}
const space = { code: keyCode('Space') };  // whatever is held with it

const onApple = /^(Mac|iP)/.test(navigator.platform ?? '');

// What a pressed key is for the guest, whose keyboard is a US one: {code} of the key that makes the same character there, or
// {text} where no key does with what is held: also capitals of CapsLock, which is not the guest's, and of screen keyboards. Keys
// without a character, and those of shortcuts that have none there, go by their place.
export function meaningOf(event) {
    const place = keyCode(event.code);
    if ([...event.key].length !== 1) return { code: place };
    if (event.key === ' ') return space;
    const there = characters.get(event.key);
    if (there?.shift === event.shiftKey) return { code: there.code };
    const third = event.getModifierState('AltGraph') || (onApple && event.altKey && !event.ctrlKey);
    if (!third && (event.ctrlKey || event.altKey || event.metaKey)) return { code: there?.code ?? place };
    return event.metaKey ? { code: place } : { text: event.key };
}
