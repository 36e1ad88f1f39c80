// Runs in a page: an instance as the client sees it. It offers a canvas whose corners have colours, answers what the test
// told it to, and notes what it hears.
window.startInstance = ({ codecs, vhal = {}, camera = false, capabilities = [], clipboard, files } = {}) => {
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width: 320, height: 180 });
    document.body.append(canvas);
    const paint = canvas.getContext('2d');
    const draw = () => {
        ['#f00', '#0f0', '#00f', '#ff0'].forEach((colour, index) => {
            paint.fillStyle = colour;
            paint.fillRect((index % 2) * 160, Math.floor(index / 2) * 90, 160, 90);
        });
        requestAnimationFrame(draw);
    };
    draw();

    const heard = [], channels = [], signals = [];
    const pc = new RTCPeerConnection();
    const send = (message) => window.toClient(JSON.stringify(message));
    const stream = canvas.captureStream(30);
    const sound = new AudioContext().createMediaStreamDestination().stream.getAudioTracks()[0];

    const answers = {
        'vhal::get-all-prop-configs': () => ['vhal-prop-configs', [{ prop: 1 }]],
        'vhal::get': ({ prop }) => ['vhal-get-answer', vhal[prop] ?? { prop, error: 'no such property' }],
    };
    // The clipboard of the instance: takes what is pasted, and copies when a test says so.
    const pastes = [], follows = [];
    const listenToClipboard = (channel) => {
        let incoming;
        const tell = (message) => channel.send(JSON.stringify(message));
        const told = ({ type, ...message }) => {
            if (type === 'follow') return follows.push(message.on);
            if (window.instance.refusal) return tell({ type: 'refused', message: window.instance.refusal });
            return incoming = { ...message, parts: [], received: 0 };
        };
        channel.onmessage = async ({ data }) => {
            if (typeof data === 'string') return told(JSON.parse(data));
            window.instance.clipboardBytes += data.byteLength;
            if (!incoming || window.instance.silent) return undefined;
            incoming.parts.push(data);
            incoming.received += data.byteLength;
            tell({ type: 'ack', bytes: incoming.received });
            if (incoming.received < incoming.size) return undefined;
            const { format, parts } = incoming;
            pastes.push({ format, text: await new Blob(parts).text() });
            return tell({ type: 'taken' });
        };
        window.instance.copy = (format, text) => {
            const bytes = new TextEncoder().encode(text);
            tell({ type: 'copied', format, size: bytes.length });
            for (let at = 0; at < bytes.length; at += 16384) channel.send(bytes.slice(at, at + 16384));
        };
        tell({ type: 'allowed', ...clipboard });
    };
    // Its folder, by name. `refusal`: what it says against everything.
    const folder = new Map(), mostAhead = 1 << 22;  // bytes that wait in the channel: browsers take 16 MiB
    const listenToFiles = (channel) => {
        let incoming;
        const tell = (message) => channel.send(JSON.stringify(message));
        const store = () => {
            folder.set(incoming.path, new Blob(incoming.parts));
            tell({ type: 'stored', id: incoming.id, name: incoming.path });
            incoming = undefined;
        };
        const answers = {
            put: (message) => {
                if (window.instance.refusal) return tell({ type: 'failed', id: message.id, message: window.instance.refusal });
                incoming = { ...message, parts: [], received: 0 };
                return message.size || store();
            },
            cancel: ({ id }) => { window.instance.cancelled.push(id); incoming = undefined; },
            list: () => tell({ type: 'files', files: [...folder].map(([name, blob]) => ({ name, size: blob.size, time: 1 })) }),
            get: async ({ id, name }) => {
                if (!folder.has(name)) return tell({ type: 'failed', id, message: `file '${name}' is not there` });
                const bytes = await folder.get(name).arrayBuffer();
                tell({ type: 'file', id, size: window.instance.announced ?? bytes.byteLength });
                for (let at = 0; at < bytes.byteLength; at += 16384) {
                    while (channel.bufferedAmount > mostAhead) await new Promise((resolve) => { setTimeout(resolve); });
                    if (window.instance.cancelled.includes(id)) return undefined;
                    channel.send(bytes.slice(at, at + 16384));
                }
                return tell({ type: 'sent', id });
            },
        };
        channel.onmessage = ({ data }) => {
            if (typeof data === 'string') return answers[JSON.parse(data).type](JSON.parse(data));
            window.instance.fileBytes += data.byteLength;
            if (!incoming || window.instance.silent) return undefined;
            incoming.parts.push(data);
            incoming.received += data.byteLength;
            tell({ type: 'ack', id: incoming.id, bytes: incoming.received });
            return incoming.received < incoming.size ? undefined : store();
        };
        tell({ type: 'allowed', largest: 2 ** 31, ...files });
    };
    const parts = { 'svc:clipboard': listenToClipboard, 'svc:files': listenToFiles };
    const listen = (channel) => {
        channels.push({ label: channel.label, id: channel.id, ordered: channel.ordered, protocol: channel.protocol });
        channel.binaryType = 'arraybuffer';
        window.instance.own[channel.label] = channel;
        const part = parts[channel.label];
        if (part) {
            if (channel.readyState === 'open') part(channel);
            else channel.onopen = () => part(channel);
            return;
        }
        channel.onmessage = ({ data }) => {
            if (channel.label !== 'control') return channel.send(data);  // an echo
            const message = JSON.parse(data);
            heard.push(message);
            const answer = answers[message.type]?.(message.data);
            if (answer) channel.send(JSON.stringify({ type: answer[0], data: JSON.stringify(answer[1]) }));
            return undefined;
        };
        if (channel.label === 'control') window.instance.control = channel;
    };
    pc.ondatachannel = ({ channel }) => listen(channel);
    pc.onicecandidate = ({ candidate }) => candidate?.candidate && send({
        type: 'candidate', candidate: btoa(candidate.candidate), sdpMid: candidate.sdpMid, sdpMLineIndex: candidate.sdpMLineIndex,
    });

    const offer = async (settings) => {
        if (settings.enable_speaker) pc.addTransceiver(sound, { direction: settings.enable_microphone ? 'sendrecv' : 'sendonly', streams: [stream] });
        if (camera) pc.addTransceiver('video', { direction: 'recvonly' });
        pc.addTransceiver(stream.getVideoTracks()[0], { direction: 'sendonly', streams: [stream] });
        pc.createDataChannel('bootstrap');
        const description = await pc.createOffer();
        if (codecs) description.sdp = codecs(description.sdp);
        else await pc.setLocalDescription(description);
        send({ type: 'offer', sdp: btoa(description.sdp) });
    };
    window.fromClient = async (text) => {
        const message = JSON.parse(text);
        signals.push(message);
        if (message.type === 'discover') send({ type: 'resp:discover', max_api_version: 2, fps: 60, capabilities: [...capabilities, ...(Object.keys(vhal).length ? ['vhal'] : [])] });
        if (message.type === 'settings') await offer(message);
        if (message.type === 'answer') await pc.setRemoteDescription({ type: 'answer', sdp: atob(message.sdp) });
        if (message.type === 'candidate') {
            const candidate = { candidate: atob(message.candidate), sdpMid: message.sdpMid, sdpMLineIndex: message.sdpMLineIndex };
            await pc.addIceCandidate(candidate).catch(() => {});
        }
    };
    window.instance = { pc, heard, channels, signals, pastes, follows, folder, own: {}, clipboardBytes: 0, fileBytes: 0, cancelled: [] };
};
