// The client module of the gateway's page against an instance that lives in another page: each line of its contract.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { launch } from './browser.mjs';

const web = new URL('../../server/gateway/web/', import.meta.url);
const site = 'http://localhost';
const types = { js: 'text/javascript', html: 'text/html', css: 'text/css', svg: 'image/svg+xml' };

let browser, context, client, instance, requests, socket, closed;
let session;  // what GET /1.0/sessions/<id> answers; nothing: 404

before(async () => { browser = await launch(); });
after(() => browser.close());

function answerOf(request) {
    const path = new URL(request.url()).pathname, body = request.postDataJSON();
    const good = (status, metadata) => ({ status, json: { type: 'sync', status: 'success', status_code: status, metadata } });
    if (request.method() !== 'GET') requests.push({ method: request.method(), path, body, authorization: request.headers().authorization });
    const grant = { id: 's1', region: 'here', status: 'created', joinable: true, url: 'ws://localhost/slave?token=t', stun_servers: [] };
    if (path === '/1.0/sessions/' && request.method() === 'POST') return good(201, grant);
    if (path === '/1.0/sessions/s1/join') return good(200, grant);
    if (path === '/1.0/sessions/s1' && session) return good(200, session);
    return { status: 404, json: { type: 'error', status: 'failed', status_code: 404, error: 'session not found' } };
}

async function serve(route) {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith('/1.0/')) return route.fulfill(answerOf(route.request()));
    if (pathname === '/blank') {
        return route.fulfill({ contentType: 'text/html', body: '<body style="margin:0"><div id="stage" tabindex="0" style="width:640px;height:640px"></div>' });
    }
    const name = pathname.replace('/web/', '');
    return route.fulfill({ contentType: types[name.split('.').pop()], body: await readFile(new URL(name, web)) });
}

beforeEach(async () => {
    requests = [];
    session = { id: 's1', status: 'active' };
    context = await browser.newContext();
    await context.route(`${site}/**`, serve);
    instance = await context.newPage();
    await instance.goto(`${site}/blank`);
    await instance.exposeFunction('toClient', (text) => socket.send(text));
    await instance.addScriptTag({ path: new URL('fake_instance.js', import.meta.url).pathname });
    client = await context.newPage();
    closed = new Promise((resolve) => {
        client.routeWebSocket('ws://localhost/slave?token=t', (route) => {
            socket = route;
            route.onMessage((text) => instance.evaluate((message) => window.fromClient(message), text));
            route.onClose((code) => resolve(code ?? 1005));
        });
    });
    await client.goto(`${site}/blank`);
    await client.evaluate(() => {
        window.events = [];
        window.ended = new Promise((resolve) => { window.onEnd = resolve; });
    });
});
afterEach(() => context.close());

async function connect(options = {}, fake = {}) {
    await instance.evaluate((setup) => window.startInstance(setup), fake);
    await client.evaluate(async (given) => {
        const { connect: start } = await import('/web/svc-stream.js');
        await new Promise((resolve, reject) => {
            start({
                token: 'abc', element: document.querySelector('#stage'), onReady: resolve, onDone: window.onEnd,
                onError: (error) => { window.events.push({ error: error.message, code: error.code, reason: error.reason }); resolve(); },
                onMessage: (type, data) => window.events.push({ type, data }),
                onChannelMessage: (name, data) => window.events.push({ name, data: typeof data === 'string' ? data : [...new Uint8Array(data)] }),
                onVehicleReady: (configurations) => window.events.push({ configurations }), ...given,
            }).then((stream) => { window.stream = stream; }, reject);
        });
    }, { app: 'demo', ...options });
}

const events = () => client.evaluate(() => window.events);
// What the instance heard on the control channel, once `count` messages of this type are there.
async function heard(type, count = 1) {
    await instance.waitForFunction(([name, least]) => window.instance.heard.filter((message) => message.type === name).length >= least, [type, count]);
    return instance.evaluate((name) => window.instance.heard.filter((message) => message.type === name).map(({ data }) => data), type);
}

test('a session is created as the gateway expects it', async () => {
    await connect({ screen: { width: 640, height: 360, fps: 60, density: 240 }, joinable: true, idleTime: 5 });
    assert.deepEqual(requests, [{
        method: 'POST', path: '/1.0/sessions/', authorization: 'Macaroon root=abc',
        body: { app: 'demo', region: '', joinable: true, extra_data: null, screen: { width: 640, height: 360, fps: 60, density: 240 }, idle_time_min: 5 },
    }]);
});

test('a session is joined with the screen alone', async () => {
    await connect({ app: undefined, sessionId: 's1', screen: { width: 640, height: 360 } });
    assert.deepEqual(requests[0].body, { screen: { width: 640, height: 360 } });
    assert.equal(requests[0].path, '/1.0/sessions/s1/join');
});

test('signalling is discover, settings, answer, and the socket closes once media flows', async () => {
    await connect({ dataChannels: ['one'] });
    await closed;
    const signals = await instance.evaluate(() => window.instance.signals);
    assert.deepEqual(signals.slice(0, 2), [{ type: 'discover' }, {
        type: 'settings', api_version: 2, data_channels: ['one'], enable_speaker: true, enable_microphone: false, enable_video: true, enable_camera: false,
        ...(signals[1].video && { video: signals[1].video }),
    }]);
    const answer = Buffer.from(signals.find(({ type }) => type === 'answer').sdp, 'base64').toString();
    assert.match(answer, /m=audio[\s\S]*a=recvonly[\s\S]*m=video[\s\S]*a=recvonly[\s\S]*m=application/);
    assert.match(answer, /a=setup:active/);
});

test('the picture is shown and ready comes with it', async () => {
    await connect();
    const colour = await client.evaluate(() => {
        const canvas = new OffscreenCanvas(320, 180).getContext('2d');
        canvas.drawImage(window.stream.video, 0, 0, 320, 180);
        return [...canvas.getImageData(40, 45, 1, 1).data];
    });
    assert.ok(colour[0] > 200 && colour[1] < 60 && colour[2] < 60, `red expected: ${colour}`);
});

test('the control channel comes first, then the custom ones, all reliable', async () => {
    await connect({ dataChannels: ['one', 'two'] });
    await instance.waitForFunction(() => window.instance.channels.length === 3);
    const channels = await instance.evaluate(() => window.instance.channels);
    assert.deepEqual(channels, ['control', 'one', 'two'].map((label, index) => ({ label, id: 2 * index, ordered: true, protocol: '' })));
});

test('custom channels carry text and bytes both ways', async () => {
    await connect({ dataChannels: ['one'] });
    await client.waitForFunction(() => window.stream.sendData('one', 'words'));
    await client.evaluate(() => window.stream.sendData('one', new Uint8Array([1, 2, 3]).buffer));
    await client.waitForFunction(() => window.events.length === 2);
    assert.deepEqual(await events(), [{ name: 'one', data: 'words' }, { name: 'one', data: [1, 2, 3] }]);
});

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

test('keys go by their place where that is wished', async () => {
    await connect({ keys: 'places' });
    await client.locator('#stage').focus();
    await press('z', 'KeyW');
    assert.deepEqual(await codes(2), [26, -26]);
});

test('what the browser composes goes as text, once', async () => {
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

test('messages of the guest reach the page unchanged', async () => {
    await connect();
    await instance.waitForFunction(() => window.instance.control?.readyState === 'open');
    await instance.evaluate(() => window.instance.control.send(JSON.stringify({ type: 'hello', data: 'as it is' })));
    await client.waitForFunction(() => window.events.length === 1);
    assert.deepEqual(await events(), [{ type: 'hello', data: 'as it is' }]);
});

test('locations are sent in milliseconds and degrees', async () => {
    await connect();
    await client.waitForFunction(() => window.stream.sendLocation({ timestamp: 1000, coords: { latitude: 1.5, longitude: 2.5, heading: 90 } }));
    assert.deepEqual(await heard('location::update-position'), [{ time: 1000, latitude: 1.5, longitude: 2.5, altitude: 0, speed: 0, bearing: 90 }]);
});

test('vehicle properties are answered in order, errors too', async () => {
    await connect({}, { vhal: { 7: { prop: 7, area_id: 0, status: 0, int32_values: [5] } } });
    await client.waitForFunction(() => window.events.some(({ configurations }) => configurations));
    const answers = await client.evaluate(() => Promise.allSettled([9, 7].map((prop) => window.stream.vehicle.get({ prop, area_id: 0 }))));
    assert.match(String(answers[0].status), /rejected/);
    assert.deepEqual(answers[1].value.int32_values, [5]);
});

test('camera and microphone go out while the guest has them open', async () => {
    await connect({ camera: true, microphone: true }, { camera: true });
    await instance.waitForFunction(() => window.instance.control?.readyState === 'open');
    await instance.evaluate(() => {
        window.instance.control.send(JSON.stringify({ type: 'open-camera', data: JSON.stringify({ resolution: { width: 320, height: 240 }, 'facing-mode': 'front', 'frame-rate': 15 }) }));
        window.instance.control.send(JSON.stringify({ type: 'enable-microphone', data: JSON.stringify({ freq: 48000, channels: 2, samples: 512 }) }));
    });
    await instance.waitForFunction(async () => {
        const inbound = [...(await window.instance.pc.getStats()).values()].filter(({ type }) => type === 'inbound-rtp');
        return inbound.some(({ kind, framesDecoded }) => kind === 'video' && framesDecoded > 0) && inbound.some(({ kind, bytesReceived }) => kind === 'audio' && bytesReceived > 0);
    });
});

test('leaving says goodbye, and done comes once', async () => {
    await connect();
    await instance.waitForFunction(() => window.instance.control?.readyState === 'open');
    await client.evaluate(() => { window.stream.disconnect(); window.stream.disconnect(); });
    assert.deepEqual(await heard('stream::disconnect'), [{}]);
    assert.equal(await client.evaluate(() => window.ended), undefined);
});

test('figures tell of the picture and the path', async () => {
    await connect();
    await client.waitForFunction(async () => {
        window.figures = await window.stream.statistics.read();
        return window.figures.fps > 0 && window.figures.kbps > 0 && window.figures.roundTripMs !== undefined;
    });
    const { width, height, relay } = await client.evaluate(() => window.figures);
    assert.deepEqual({ width, height, relay }, { width: 320, height: 180, relay: false });
});

test('an error of the instance is said in its words', async () => {
    await instance.evaluate(() => { window.fromClient = (text) => JSON.parse(text).type === 'discover' && window.toClient(JSON.stringify({ type: 'error', message: 'no display' })); });
    await instance.evaluate(() => { window.startInstance = () => {}; });
    await connect();
    assert.deepEqual(await events(), [{ error: 'The instance refused the stream: no display.', code: 2, reason: 'signallingFailed' }]);
});

test('a failed session is said with its reason', async () => {
    session = { id: 's1', status: 'error', status_message: 'the disk is full' };
    await instance.evaluate(() => { window.startInstance = () => {}; window.fromClient = () => {}; });
    const done = connect();
    await client.waitForFunction(() => window.stream);
    await socket.close({ code: 1000, reason: 'session ended' });
    await done;
    assert.deepEqual(await events(), [{ error: 'The instance failed: the disk is full.', code: 8, reason: 'sessionFailed' }]);
});

test('an instance that closes the connection is told from one that ended', async () => {
    await connect();
    await instance.waitForFunction(() => window.instance.control?.readyState === 'open');
    await instance.evaluate(() => window.instance.pc.close());
    await client.evaluate(() => window.ended);
    assert.equal((await events())[0].code, 14);
});

test('a browser that cannot decode says what was offered', async () => {
    await instance.evaluate(() => {
        const start = window.startInstance;
        window.startInstance = () => start({ codecs: (sdp) => sdp.replace(/a=rtpmap:(\d+) (VP8|VP9|H264|AV1)\/90000/g, 'a=rtpmap:$1 H265x/90000') });
    });
    await connect();
    const [event] = await events();
    assert.equal(event.code, 4);
    assert.match(event.error, /cannot decode/);
});

test('a path that cannot be found is said, with the missing relay', async () => {
    await client.evaluate(() => {
        const Real = RTCPeerConnection;
        window.RTCPeerConnection = class extends Real {
            constructor(configuration) {
                super(configuration);
                window.connection = this;
            }

            get iceConnectionState() { return window.state ?? super.iceConnectionState; }
        };
    });
    await connect();
    await client.evaluate(() => {
        window.stream.connection.connected = false;
        window.state = 'failed';
        window.connection.oniceconnectionstatechange();
    });
    const [event] = await events();
    assert.equal(event.code, 9);
    assert.match(event.error, /no relay \(TURN\)/);
});

// The next client of the same session; the one before stays without an instance.
const anotherInstance = () => instance.evaluate(() => {
    window.startInstance({});
    window.instance.pc.onconnectionstatechange = () => { window.instance.state = window.instance.pc.connectionState; };
});
// What ICE would say, without waiting for it.
const say = (state) => client.evaluate((name) => {
    const { pc } = window.stream.connection;
    Object.defineProperty(pc, 'iceConnectionState', { configurable: true, value: name });
    pc.oniceconnectionstatechange();
}, state);
const told = (word) => client.waitForFunction((name) => window.events.includes(name), word);
const noting = () => client.evaluate(() => Object.assign(window.stream.options, {
    onInterrupted: () => window.events.push('interrupted'), onResumed: () => window.events.push('resumed') }));

test('a connection that is lost is replaced by another one, and the picture is back', async () => {
    await connect({ joinable: true, dataChannels: ['one'], screen: { width: 640, height: 360 } });
    await noting();
    await anotherInstance();
    await say('failed');
    await told('resumed');
    assert.deepEqual(await events(), ['interrupted', 'resumed']);
    assert.deepEqual(requests.slice(1), [{ method: 'POST', path: '/1.0/sessions/s1/join', authorization: 'Macaroon root=abc', body: { screen: { width: 640, height: 360 } } }]);
    await client.evaluate(() => window.stream.sendControl('hello', {}));
    assert.deepEqual(await heard('hello'), [{}]);
    await client.mouse.move(100, 240);
    assert.equal((await heard('input::mouse-move')).length > 0, true);
});

test('a connection that comes back by itself stays', async () => {
    await connect({ joinable: true });
    await noting();
    await say('disconnected');
    assert.deepEqual(await events(), ['interrupted']);
    await say('connected');
    assert.deepEqual(await events(), ['interrupted', 'resumed']);
    assert.equal(requests.length, 1);
});

test('a session that nobody can join again is lost', async () => {
    await connect();
    await say('failed');
    assert.equal(await client.evaluate(() => window.ended.then((error) => error.code)), 10);
    assert.equal(requests.length, 1);
});

test('a session that ended meanwhile is said, and the trying ends', async () => {
    await connect({ joinable: true });
    await context.route(`${site}/1.0/sessions/s1/join`, (route) => route.fulfill(
        { status: 400, json: { type: 'error', status: 'failed', status_code: 400, error: 'Session is not active' } }));
    session = { id: 's1', status: 'error', status_message: 'the disk is full', joinable: true };
    await say('failed');
    assert.match(await client.evaluate(() => window.ended.then((error) => error.message)), /the disk is full/);
});

test('trying ends after so many times', async () => {
    await connect({ joinable: true, reconnect: 1 });
    await context.route(`${site}/1.0/**`, (route) => route.abort());
    await say('failed');
    assert.equal(await client.evaluate(() => window.ended.then((error) => error.code)), 10);
});

test('an instance that closes an interrupted connection is joined anew', async () => {
    await connect({ joinable: true });
    await noting();
    await say('disconnected');
    await instance.evaluate(() => window.instance.pc.close());
    await anotherInstance();
    await told('resumed');
    assert.equal(requests.length, 2);
});

test('a refused token is said in words', async () => {
    await context.route(`${site}/1.0/**`, (route) => route.fulfill({ status: 401, json: { type: 'error', status: 'failed', status_code: 401, error: 'Authorization failed' } }));
    const message = await client.evaluate(async () => {
        const { connect: start } = await import('/web/svc-stream.js');
        return start({ token: 'abc', app: 'demo' }).catch((error) => error.message);
    });
    assert.match(message, /does not accept this token/);
});
