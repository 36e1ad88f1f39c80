// The client module's connection through the gateway, over a played socket and with a played decoder.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { client } from './client_fixture.mjs';

const key = 1, last = 2, sound = 4;
let socket, texts, heard;

// A message of the instance: flags, a time, some bytes.
const send = (flags, ...bytes) => socket.send(Buffer.from([flags, ...new Array(8).fill(0), ...bytes]));

// Messages that the page sends, until there is one of this type.
async function said(type) {
    while (!texts.some((text) => JSON.parse(text).type === type)) await heard;
    return JSON.parse(texts.find((text) => JSON.parse(text).type === type));
}

// The frames that the decoder has got: how, and how many bytes.
const decoded = (count) => client.waitForFunction((least) => window.decoder?.frames.length >= least && window.decoder.frames, count)
    .then((handle) => handle.jsonValue());

beforeEach(async () => {
    let tell;
    texts = [];
    const next = () => { heard = new Promise((resolve) => { tell = resolve; }); };
    next();
    await client.routeWebSocket('ws://localhost/media', (route) => {
        socket = route;
        route.onMessage((text) => {
            texts.push(text);
            tell();
            next();
        });
    });
    await client.evaluate(async () => {
        window.VideoDecoder = class {
            static async isConfigSupported({ codec }) { return { supported: codec.startsWith('avc1') }; }
            frames = [];
            state = 'configured';
            decodeQueueSize = 0;
            constructor() { window.decoder = this; }
            configure() {}
            decode(chunk) { this.frames.push([chunk.type, chunk.byteLength]); }
            close() { this.state = 'closed'; }
        };
        const { SocketConnection } = await import('/web/socket_connection.js');
        const quiet = new Proxy({}, { get: () => () => {} });
        window.connection = new SocketConnection('ws://localhost/media', { audio: false }, quiet);
    });
    assert.deepEqual(await said('begin'), { type: 'begin', codecs: ['H264'], sound: false });
    socket.send(JSON.stringify({ type: 'began', codec: 'H264' }));
});

test('a frame is put together of its pieces, also where sound comes between them', async () => {
    send(key, 1, 2);
    send(sound, 9, 9, 9);
    send(key | last, 3);
    assert.deepEqual(await decoded(1), [['key', 3]]);
});

test('pictures that the decoder is too slow for are left out, and a key frame is asked for once it is through', async () => {
    send(key | last, 1);
    await decoded(1);
    await client.evaluate(() => { window.decoder.decodeQueueSize = 9; });
    send(last, 1);
    await client.waitForFunction(() => window.connection.counts.dropped === 1);
    await client.evaluate(() => {
        window.decoder.decodeQueueSize = 0;
        for (let again = 0; again < 2; ++again) window.decoder.ondequeue();
    });
    await said('media::key-frame');
    send(last, 1);
    send(key | last, 1, 2);
    send(last, 1, 2, 3);
    assert.deepEqual(await decoded(3), [['key', 1], ['key', 2], ['delta', 3]]);
    assert.equal(texts.length, 2);
});
