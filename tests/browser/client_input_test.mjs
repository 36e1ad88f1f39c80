// Mouse, keys, fingers and text of the client module, as a played instance hears them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFirefox } from './browser.mjs';
import { client, connect, context, heard } from './client_fixture.mjs';

test('mouse positions are pixels of the display, whatever the letterbox', async () => {
    await connect();
    // 320 x 180 in 640 x 640: twice as large, 140 pixels of letterbox above.
    await client.mouse.move(100, 240);
    await client.mouse.down();
    await client.mouse.move(100, 10);  // above the picture: its edge
    await client.mouse.up();
    await client.mouse.wheel(0, 120);
    await heard('input::mouse-wheel');
    const moves = (await heard('input::mouse-move')).map(({ x, y }) => [Math.round(x), Math.round(y)]);
    assert.deepEqual(moves[0], [50, 50]);
    assert.deepEqual(moves.at(-1), [50, 0]);
    assert.deepEqual(await heard('input::mouse-button'), [{ button: 1, pressed: true }, { button: 1, pressed: false }]);
    assert.deepEqual(await heard('input::mouse-wheel'), [{ x: 0, y: -1 }]);
});

test('keys go by their place, without repeats, and what has no code as text', async () => {
    await connect();
    await client.locator('#stage').focus();
    await client.keyboard.down('KeyQ');
    await client.keyboard.down('KeyQ');
    await client.keyboard.up('KeyQ');
    await client.keyboard.press('Backquote');
    assert.deepEqual(await heard('input::ime-event'), [{ type: 1, data: { text: '`' } }]);
    assert.deepEqual(await heard('input::key', 2), [{ code: 20, pressed: true }, { code: 20, pressed: false }]);
});

test('nothing stays down that was pressed with Command, whose browsers do not tell of its end', async () => {
    await connect();
    await client.locator('#stage').focus();
    await client.evaluate(() => {
        const key = (name, code) => document.querySelector('#stage').dispatchEvent(new KeyboardEvent(name, { code, bubbles: true, cancelable: true }));
        key('keydown', 'MetaLeft');
        key('keydown', 'KeyC');
        key('keyup', 'MetaLeft');
    });
    assert.deepEqual((await heard('input::key', 4)).slice(2), [{ code: 86, pressed: false }, { code: 6, pressed: false }]);
});

// A key of another keyboard's.
const press = (key, code, more = {}) => client.evaluate(([name, place, members]) => {
    for (const type of ['keydown', 'keyup']) {
        document.activeElement.dispatchEvent(new KeyboardEvent(type, { key: name, code: place, bubbles: true, cancelable: true, ...members }));
    }
}, [key, code, more]);
const codes = async (count) => (await heard('input::key', count)).map(({ code, pressed }) => (pressed ? code : -code));
const texts = async (count) => (await heard('input::ime-event', count)).map(({ data }) => data.text).join('');

test('a key of another layout is the key that writes the same here, and text where none does', async () => {
    await connect();
    await client.locator('#stage').focus();
    await press('y', 'KeyZ');                     // German
    await press('z', 'KeyY', { ctrlKey: true });
    await press('-', 'Slash');
    assert.deepEqual(await codes(6), [28, -28, 29, -29, 45, -45]);
    await press('ö', 'Semicolon');
    await press('é', 'Digit2');                   // French
    await press('<', 'IntlBackslash');
    assert.equal(await texts(3), 'öé<');
});

test('capitals without Shift, and small letters with it, go as they are written', async () => {
    await connect();
    await client.locator('#stage').focus();
    await press('CapsLock', 'CapsLock');          // stays here: the guest's is not touched
    await press('A', 'KeyA');                     // while it is on, or of a phone's keyboard
    await press('B', '');
    await press('c', 'KeyC', { shiftKey: true });
    assert.equal(await texts(3), 'ABc');
    await press('D', 'KeyD', { ctrlKey: true });  // a shortcut is a key
    await press('E', 'KeyE', { shiftKey: true });
    await press(' ', 'Space', { shiftKey: true });
    assert.deepEqual(await codes(6), [7, -7, 8, -8, 44, -44]);
});

test('CapsLock is the guest\'s where keys go by their place', async () => {
    await connect({ keys: 'places' });
    await client.locator('#stage').focus();
    await press('CapsLock', 'CapsLock');
    await press('A', 'KeyA');
    assert.deepEqual(await codes(4), [57, -57, 4, -4]);
});

test('what is held to make a character is let go before it goes as text', async () => {
    await connect();
    await client.locator('#stage').focus();
    await client.keyboard.down('Shift');
    await press('/', 'Digit7', { shiftKey: true });
    await client.keyboard.up('Shift');
    assert.deepEqual(await codes(4), [84, -84, 84, -84]);
    await client.keyboard.down('ControlLeft');    // AltGr of Windows
    await press('AltGraph', 'AltRight', { ctrlKey: true, altKey: true, modifierAltGraph: true });
    await press('@', 'KeyQ', { ctrlKey: true, altKey: true, modifierAltGraph: true });
    assert.equal(await texts(2), '/@');
    assert.deepEqual((await codes(6)).slice(4), [83, -83]);
});

const move = (modifiers) => client.evaluate((init) => document.querySelector('#stage').dispatchEvent(
    new PointerEvent('pointermove', { pointerType: 'mouse', clientX: 100, clientY: 240, button: -1, bubbles: true, ...init })), modifiers);

test('a modifier that was let go where nobody told of it does not stay down', async () => {
    await connect();
    await client.locator('#stage').focus();
    await client.keyboard.down('Shift');
    await client.keyboard.down('Control');
    await move({ ctrlKey: true });
    assert.deepEqual(await codes(3), [84, 83, -84]);
    await press('a', 'KeyA');
    assert.deepEqual((await codes(6)).slice(3), [-83, 4, -4]);
});

test('nor does one that was down while a text was sent', async () => {
    await connect();
    await client.locator('#stage').focus();
    await client.keyboard.down('Shift');
    await press('/', 'Digit7', { shiftKey: true });
    await move({});
    assert.deepEqual(await codes(4), [84, -84, 84, -84]);
});

test('keys go by their place where that is wished', async () => {
    await connect({ keys: 'places' });
    await client.locator('#stage').focus();
    await press('z', 'KeyW');
    assert.deepEqual(await codes(2), [26, -26]);
});

test('what the browser composes goes as text, once', { skip: isFirefox && 'nobody can compose there' }, async () => {
    await connect();
    await client.locator('#stage').focus();
    await client.keyboard.insertText('ß😀');
    const devtools = await context.newCDPSession(client);
    await press('Dead', 'Equal');
    await devtools.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 });
    await devtools.send('Input.imeSetComposition', { text: '日本', selectionStart: 2, selectionEnd: 2 });
    await devtools.send('Input.insertText', { text: '日本' });
    await client.keyboard.press('KeyA');
    await heard('input::key', 2);
    assert.equal(await texts(2), 'ß😀日本');
    assert.deepEqual(await codes(2), [4, -4]);
});

test('nothing stays down when the focus goes, and a chord lets it go', async () => {
    await connect();
    await client.locator('#stage').focus();
    await client.keyboard.down('KeyA');
    await client.evaluate(() => document.activeElement.blur());
    assert.deepEqual(await heard('input::key', 2), [{ code: 4, pressed: true }, { code: 4, pressed: false }]);
    await client.locator('#stage').focus();
    await client.keyboard.press('Control+Alt+Escape');
    assert.equal(await client.evaluate(() => document.activeElement === document.body), true);
    const keys = await heard('input::key', 6);
    assert.deepEqual(keys.filter(({ code }) => code === 41), [], 'the chord stays here');
    assert.equal(keys.filter(({ pressed }) => pressed).length, keys.filter(({ pressed }) => !pressed).length);
});

test('fingers have slots, and the last one says so', async () => {
    await connect();
    await client.evaluate(() => {
        const finger = (name, pointerId, clientX) => document.querySelector('#stage').dispatchEvent(
            new PointerEvent(name, { pointerType: 'touch', pointerId, clientX, clientY: 140, button: 0, bubbles: true, cancelable: true }));
        finger('pointerdown', 7, 20);
        finger('pointerdown', 9, 40);
        finger('pointermove', 9, 60);
        finger('pointerup', 7, 20);
        finger('pointerdown', 11, 80);
        finger('pointerup', 9, 60);
        finger('pointercancel', 11, 80);
    });
    assert.deepEqual(await heard('input::touch-end', 3), [{ id: 0, last: false }, { id: 1, last: false }, { id: 0, last: true }]);
    assert.deepEqual(await heard('input::touch-start', 3), [{ id: 0, x: 10, y: 0 }, { id: 1, x: 20, y: 0 }, { id: 0, x: 40, y: 0 }]);
    assert.deepEqual(await heard('input::touch-move'), [{ id: 1, x: 30, y: 0 }]);
});

test('gamepads are sent as what has changed, and let go of when they or the client leave', async () => {
    await connect();
    await client.evaluate(() => {
        const button = (value) => ({ pressed: value > 0.5, value });
        window.pads = [null, { index: 1, connected: true, mapping: 'standard', axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => button(0)) },
            { index: 2, connected: true, mapping: '', axes: [1], buttons: [button(1)] }];
        navigator.getGamepads = () => window.pads;
        window.press = (index, value) => { window.pads[1].buttons[index] = button(value); };
        window.dispatchEvent(new Event('gamepadconnected'));
    });
    await client.evaluate(() => { window.press(0, 1); window.press(6, 0.75); window.pads[1].axes[1] = -1; });
    assert.deepEqual(await heard('input::gamepad-button', 2), [{ id: 1, index: 0, pressed: true }, { id: 1, index: 6, pressed: true }]);
    assert.deepEqual(await heard('input::gamepad-axes', 2), [{ id: 1, index: 4, value: 64 / 127 }, { id: 1, index: 1, value: -1 }]);
    await client.evaluate(() => { window.pads[1].axes[1] = -0.999; window.press(0, 0); });  // too little of an axis is nothing
    assert.deepEqual((await heard('input::gamepad-button', 3)).at(-1), { id: 1, index: 0, pressed: false });
    await client.evaluate(() => { window.pads = []; });
    assert.deepEqual((await heard('input::gamepad-button', 4)).at(-1), { id: 1, index: 6, pressed: false });
    assert.deepEqual((await heard('input::gamepad-axes', 4)).slice(2), [{ id: 1, index: 4, value: -1 }, { id: 1, index: 1, value: 0 }]);
});

test('typing on a phone becomes text and deletions', async () => {
    await connect();
    const differences = await client.evaluate(async () => {
        const { TextInput, difference } = await import('/web/text_input.js');
        const field = document.createElement('input');
        document.body.append(field);
        new TextInput(field, (type, data) => window.stream.sendControl(type, data));
        field.focus();
        return [difference('   helo', '   hello'), difference('  a', '  '), difference('x😀', 'x')];
    });
    assert.deepEqual(differences, [{ deleted: 1, added: 'lo' }, { deleted: 1, added: '' }, { deleted: 1, added: '' }]);
    await client.keyboard.type('ab');
    await client.keyboard.press('Backspace');
    await client.keyboard.press('Enter');
    assert.deepEqual(await heard('input::key', 2), [{ code: 40, pressed: true }, { code: 40, pressed: false }]);
    assert.deepEqual(await heard('input::ime-event', 3),
        [{ type: 1, data: { text: 'a' } }, { type: 1, data: { text: 'b' } }, { type: 2, data: { code: 67, times: 1 } }]);
});
