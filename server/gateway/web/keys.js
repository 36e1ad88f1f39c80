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
