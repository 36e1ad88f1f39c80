// How streams of the client module end, are lost and come back, and in which words it is said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerSession, client, connect, context, controllable, events, heard, instance, opened, requests, site } from './client_fixture.mjs';

test('leaving says goodbye, and done comes once', async () => {
    await connect();
    await instance.waitForFunction(() => window.instance.control?.readyState === 'open');
    await client.evaluate(() => { window.stream.disconnect(); window.stream.disconnect(); });
    assert.deepEqual(await heard('stream::disconnect'), [{}]);
    assert.equal(await client.evaluate(() => window.ended), undefined);
});

test('an error of the instance is said in its words', async () => {
    await instance.evaluate(() => { window.fromClient = (text) => JSON.parse(text).type === 'discover' && window.toClient(JSON.stringify({ type: 'error', message: 'no display' })); });
    await instance.evaluate(() => { window.startInstance = () => {}; });
    await connect();
    assert.deepEqual(await events(), [{ error: 'The instance refused the stream: no display.', code: 2, reason: 'signallingFailed' }]);
});

test('a failed session is said with its reason', async () => {
    answerSession({ id: 's1', status: 'error', status_message: 'the disk is full' });
    await instance.evaluate(() => { window.startInstance = () => {}; window.fromClient = () => {}; });
    const done = connect();
    await (await opened).close({ code: 1000, reason: 'session ended' });
    await done;
    assert.deepEqual(await events(), [{ error: 'The instance failed: the disk is full.', code: 8, reason: 'sessionFailed' }]);
});

const ends = {
    replaced: [14, 'This stream has ended: another client has taken it over.'],
    stopped: [14, 'This stream has ended: words.'],
    not_read: [14, 'This stream has ended: words.'],
    connection_failed: [10, 'This stream has ended: words.'],
    deleted: [8, 'This stream has ended: its session was ended: words.'],
    idle: [8, 'This stream has ended: its session was ended: words.'],
    expired: [8, 'This stream has ended: its session was ended: words.'],
    instance_deleted: [8, 'This stream has ended: its session was ended: words.'],
    client_left: [8, 'This stream has ended: its session was ended: words.'],
    ended: [8, 'This stream has ended: its session was ended: words.'],
    failed: [8, 'This stream has ended: the instance failed: words.'],
    gateway_stopping: [2, 'This stream has ended: words.'],
    refused: [2, 'The instance refused the stream: words.'],
    not_ready: [2, 'The instance refused the stream: words.'],
    of_a_later_version: [8, 'This stream has ended: its session was ended: words.'],
    constructor: [8, 'This stream has ended: its session was ended: words.'],
    toString: [8, 'This stream has ended: its session was ended: words.'],
};

// As the gateway says it while nobody streams yet, and as the streamer does later.
const says = { type: 'error', message: 'words' };
for (const [code, [number, text]] of Object.entries(ends)) {
    test(`the end of a stream is said at once, by its code: ${code}`, async () => {
        await connect({ joinable: true });
        await instance.evaluate((end) => window.instance.control.send(JSON.stringify({ type: 'error', data: JSON.stringify(end) })), { code, message: 'words' });
        const { message, code: told } = await client.evaluate(() => window.ended.then((error) => ({ message: error.message, code: error.code })));
        assert.deepEqual([told, message], [number, text]);
        assert.equal(requests.length, 1);  // nobody is asked, nothing is tried again
    });
}

test('an end that is told with anything as code and words ends the stream', async () => {
    await connect({ joinable: true });
    await instance.evaluate((end) => window.instance.control.send(JSON.stringify({ type: 'error', data: JSON.stringify(end) })),
        { code: { toString: 1 }, message: { toString: 1 } });
    assert.equal(await client.evaluate(() => window.ended.then((error) => error.message)),
        'This stream has ended: its session was ended: no reason is given.');
});

test('the end of the signalling is said by its code, too', async () => {
    await instance.evaluate(() => { window.startInstance = () => {}; });
    await instance.evaluate((end) => { window.fromClient = () => window.toClient(JSON.stringify(end)); }, { ...says, code: 'replaced' });
    await connect();
    assert.deepEqual(await events(), [{ error: ends.replaced[1], code: 14, reason: 'disconnected' }]);
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
// What ICE would say, without waiting for it; one state right after the other.
const say = (...states) => client.evaluate((names) => {
    const { pc } = window.stream.connection;
    for (const name of names) {
        Object.defineProperty(pc, 'iceConnectionState', { configurable: true, value: name });
        pc.oniceconnectionstatechange();
    }
}, states);
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
    await controllable();
    await client.evaluate(() => window.stream.sendControl('hello', {}));
    assert.deepEqual(await heard('hello'), [{}]);
    await client.mouse.move(100, 240);
    assert.equal((await heard('input::mouse-move')).length > 0, true);
});

test('a connection that comes back by itself stays', async () => {
    await connect({ joinable: true });
    await noting();
    await say('disconnected', 'connected');
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
    answerSession({ id: 's1', status: 'error', status_message: 'the disk is full', joinable: true });
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
    await instance.evaluate(() => { window.before = window.instance; });
    await anotherInstance();  // before the client looks for it
    await say('disconnected');
    await instance.evaluate(() => window.before.pc.close());
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
