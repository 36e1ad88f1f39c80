// The client module against a played instance: each line of its contract.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { client, closed, connect, events, heard, instance, requests } from './client_fixture.mjs';

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

test('messages of the guest reach the page unchanged', async () => {
    await connect();
    await instance.waitForFunction(() => window.instance.control?.readyState === 'open');
    await instance.evaluate(() => window.instance.control.send(JSON.stringify({ type: 'hello', data: 'as it is' })));
    await client.waitForFunction(() => window.events.length === 1);
    assert.deepEqual(await events(), [{ type: 'hello', data: 'as it is' }]);
});

const sized = (width, height) => client.evaluate((style) => Object.assign(document.querySelector('#stage').style, style),
    { width: `${width}px`, height: `${height}px` });

test('the screen follows its element, once it has settled', async () => {
    await connect({ fit: true, screen: { width: 640, height: 640, density: 160, fps: 60 } }, { capabilities: ['resize'] });
    for (const width of [500, 501, 502, 503]) await sized(width, 300);
    await sized(400, 300);
    await heard('display::resize');
    await sized(300, 200);
    assert.deepEqual((await heard('display::resize', 2)).at(-1), { width: 300, height: 200, density: 160 });
    assert.deepEqual(await client.evaluate(() => window.stream.options.screen), { width: 300, height: 200, density: 160, fps: 60 });
});

test('an instance that cannot change its screen is asked for nothing', async () => {
    await connect({ fit: true });
    assert.equal(await client.evaluate(() => window.stream.resize({ width: 100, height: 100 })), false);
    assert.equal(await client.evaluate(() => window.stream.options.screen === undefined), true);
});

test('a page chooses the size itself', async () => {
    await connect({ fit: null }, { capabilities: ['resize'] });
    assert.equal(await client.evaluate(() => window.stream.fit), undefined);
    await client.evaluate(() => window.stream.resize({ width: 100, height: 50 }));
    assert.deepEqual(await heard('display::resize'), [{ width: 100, height: 50 }]);
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

test('figures tell of the picture and the path', async () => {
    await connect();
    await client.waitForFunction(async () => {
        window.figures = await window.stream.statistics.read();
        return window.figures.fps > 0 && window.figures.kbps > 0 && window.figures.roundTripMs !== undefined;
    });
    const { width, height, relay } = await client.evaluate(() => window.figures);
    assert.deepEqual({ width, height, relay }, { width: 320, height: 180, relay: false });
});

test('sound is asked for in stereo', async () => {
    await connect();
    const { sdp } = await instance.evaluate(() => window.instance.signals.find(({ type }) => type === 'answer'));
    assert.match(Buffer.from(sdp, 'base64').toString(), /a=fmtp:\d+ (.*;)?stereo=1/);
});

test('figures tell of the path without figures of transports', async () => {
    const figures = await client.evaluate(async () => {
        const { Statistics } = await import('/web/statistics.js');
        const report = new Map([
            { id: 'a', type: 'candidate-pair', nominated: false, state: 'succeeded', localCandidateId: 'near' },
            { id: 'b', type: 'candidate-pair', nominated: true, state: 'succeeded', localCandidateId: 'far', currentRoundTripTime: 0.02 },
            { id: 'near', type: 'local-candidate', candidateType: 'host' }, { id: 'far', type: 'local-candidate', candidateType: 'relay' },
        ].map((entry) => [entry.id, entry]));
        return new Statistics({ getStats: async () => report }).read();
    });
    assert.deepEqual([figures.roundTripMs, figures.relay], [20, true]);
});
