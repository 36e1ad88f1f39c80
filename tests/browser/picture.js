// Runs in the page: reads what svc-stream-demo shows out of the stream's picture.
(() => {
    const cells = 26, rows = 4, rowsPart = 8;
    const colours = {
        red: [0xe0, 0x20, 0x20], green: [0x20, 0xc0, 0x40], blue: [0x20, 0x40, 0xe0], yellow: [0xf0, 0xd0, 0x20],
        cyan: [0, 0xe0, 0xe0], magenta: [0xe0, 0, 0xe0],
    };
    const video = () => document.querySelector('video');

    // Of the picture's pixel at these shares of width and height: the colour that is near, or its numbers.
    function colourAt(context, x, y) {
        const { width, height } = context.canvas;
        const [r, g, b] = context.getImageData(Math.floor(x * width), Math.floor(y * height), 1, 1).data;
        const near = ([name, [nr, ng, nb]]) => Math.abs(r - nr) + Math.abs(g - ng) + Math.abs(b - nb) < 120 && name;
        return Object.entries(colours).map(near).find(Boolean) ?? `${r},${g},${b}`;
    }

    // The number in a row of cells; nothing when its first two cells are not white and black.
    function rowValue(context, index) {
        const { width, height } = context.canvas;
        const y = Math.floor(height - height / rowsPart + (index + 0.5) * (height / rowsPart) / rows);
        const line = context.getImageData(0, y, width, 1).data;
        const bits = Array.from({ length: cells }, (_, cell) => (line[4 * Math.floor((cell + 0.5) * width / cells) + 1] > 127 ? 1 : 0));
        if (!bits[0] || bits[1]) return undefined;
        return bits.slice(2).reduce((value, bit) => value * 2 + bit, 0);
    }

    function draw() {
        const canvas = new OffscreenCanvas(video().videoWidth, video().videoHeight).getContext('2d', { willReadFrequently: true });
        canvas.drawImage(video(), 0, 0);
        return canvas;
    }

    window.readPicture = () => {
        if (!video()?.videoWidth) return undefined;
        const context = draw();
        const [flipTime, text, click, counts] = Array.from({ length: rows }, (_, index) => rowValue(context, index));
        if (counts === undefined) return undefined;
        const bottom = 1 - 1 / rowsPart;
        return {
            width: video().videoWidth, height: video().videoHeight,
            corners: [[0.02, 0.02], [0.98, 0.02], [0.02, bottom - 0.02], [0.98, bottom - 0.02]].map(([x, y]) => colourAt(context, x, y)),
            square: colourAt(context, 0.5, bottom / 2), flipTime, typed: text >> 16, lastCharacter: String.fromCodePoint(text & 0xffff),
            click: [click >> 12, click & 0xfff], down: counts >> 16, wheel: ((counts >> 8) & 0xff) << 24 >> 24, flips: counts & 0xff,
        };
    };

    // The rows alone, small: reading must not hold up what is measured.
    const strip = new OffscreenCanvas(4 * cells, 4 * rows).getContext('2d', { willReadFrequently: true });
    function readFlips() {
        const { videoWidth: width, videoHeight: height } = video(), part = height / rowsPart;
        strip.drawImage(video(), 0, height - part, width, part, 0, 0, 4 * cells, 4 * rows);
        const value = (index) => {
            const line = strip.getImageData(0, 4 * index + 2, 4 * cells, 1).data;
            return Array.from({ length: cells - 2 }, (_, bit) => line[4 * (4 * (bit + 2) + 2) + 1] > 127)
                .reduce((sum, set) => sum * 2 + set, 0);
        };
        return { flipTime: value(0), flips: value(rows - 1) & 0xff };
    }

    const nextFrame = () => new Promise((resolve) => {
        if (video()) video().requestVideoFrameCallback(resolve);
        setTimeout(resolve, 500);  // the guest's picture may stand still
    });

    // Until the picture is as `wanted` says, member by member; what it was when time was over.
    window.awaitPicture = async (wanted, limit) => {
        const end = performance.now() + limit;
        const fits = (picture) => picture && Object.entries(wanted).every(([key, value]) => JSON.stringify(picture[key]) === JSON.stringify(value));
        let picture = window.readPicture();
        while (!fits(picture) && performance.now() < end) {
            await nextFrame();
            picture = window.readPicture();
        }
        return { fits: Boolean(fits(picture)), picture };
    };

    // Frames decoded from now on: resolves when there are `count`, or with how many there were.
    window.awaitFrames = async (count, limit) => {
        const end = performance.now() + limit, first = video().getVideoPlaybackQuality().totalVideoFrames;
        const frames = () => video() ? video().getVideoPlaybackQuality().totalVideoFrames - first : -1;
        while (frames() >= 0 && frames() < count && performance.now() < end) await nextFrame();
        return frames();
    };

    // The newest connection of the page, and a browser that decodes nothing but one codec.
    const RealConnection = RTCPeerConnection;
    let newest, policy = {};
    window.RTCPeerConnection = class extends RealConnection {
        constructor(settings) {
            super({ ...settings, ...policy });
            newest = this;
        }
    };
    // Nor is there a TURN server: no path is found, and the stream goes through the gateway.
    window.useNoPackets = () => { policy = { iceTransportPolicy: 'relay' }; };
    window.decodeOnly = (name) => {
        const all = RTCRtpReceiver.getCapabilities.bind(RTCRtpReceiver);
        const wanted = ({ mimeType }) => mimeType.toUpperCase() === `VIDEO/${name}`;
        const decodes = VideoDecoder.isConfigSupported.bind(VideoDecoder), begin = { H264: 'avc1', VP9: 'vp09', AV1: 'av01' }[name] ?? name.toLowerCase();
        VideoDecoder.isConfigSupported = (config) => (config.codec.startsWith(begin) ? decodes(config) : Promise.resolve({ supported: false, config }));
        RTCRtpReceiver.getCapabilities = (kind) => (kind === 'video' ? { ...all(kind), codecs: all(kind).codecs.filter(wanted) } : all(kind));
    };

    // Of the display's stream as it is received; `time` in seconds.
    window.readInbound = async () => {
        const report = await newest.getStats();
        const video = [...report.values()].find((entry) => entry.type === 'inbound-rtp' && entry.kind === 'video');
        const { pliCount, framesDropped = 0, framesDecoded, keyFramesDecoded, bytesReceived } = video;
        const codec = report.get(video.codecId)?.mimeType.replace('video/', '');
        return { codec, pliCount, framesDropped, framesDecoded, keyFramesDecoded, bytesReceived, time: video.timestamp / 1000 };
    };

    // A key that flips the square, `count` times: milliseconds from the key's event to the picture, and from the flip in
    // the guest (which must have this machine's clock) to the picture.
    window.measureFlips = async (count, limit) => {
        const stage = document.querySelector('#stage'), results = [];
        const key = (name) => stage.dispatchEvent(new KeyboardEvent(name, { code: 'F9', key: 'F9', bubbles: true, cancelable: true }));
        const seen = async (flips) => {
            for (const end = performance.now() + limit; performance.now() < end; await nextFrame()) {
                const now = readFlips();
                if (now.flips === flips) return { at: performance.now(), clock: Date.now(), flipTime: now.flipTime };
            }
            throw new Error('the square did not flip');
        };
        for (let index = 0; index < count; ++index) {
            const { flips } = readFlips();
            const asked = performance.now();
            key('keydown');
            key('keyup');
            const { at, clock, flipTime } = await seen((flips + 1) & 0xff);
            const modulus = 2 ** 24;
            results.push({ keyToGlass: at - asked, guestToGlass: ((clock % modulus) - flipTime + modulus) % modulus });
            // Not in step with the frames.
            await new Promise((resolve) => setTimeout(resolve, 37 + Math.random() * 50));
        }
        return results;
    };
})();
