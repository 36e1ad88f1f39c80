// This device's camera and microphone, sent while the guest has them open.

function cameraConstraints({ resolution = {}, 'facing-mode': facing, 'frame-rate': frameRate } = {}) {
    return {
        width: { ideal: resolution.width }, height: { ideal: resolution.height }, frameRate: { ideal: frameRate },
        facingMode: facing === 'rear' ? 'environment' : 'user',
    };
}

export class Devices {
    // `onRefused(kind, error)`: the guest goes on without it.
    constructor({ camera, microphone, onRefused }) {
        this.wanted = { camera, microphone };
        this.onRefused = onRefused;
        this.senders = new Map();  // kind -> RTCRtpSender
        this.tracks = new Map();   // kind -> MediaStreamTrack, of what is open
        this.closed = false;
    }

    // The camera has the first video section and the display the second one; the microphone has the audio section.
    // Between the offer and the answer.
    prepare(transceivers) {
        const of = (kind) => transceivers.filter(({ receiver }) => receiver.track.kind === kind);
        if (this.wanted.camera && of('video').length > 1) this.take('camera', of('video')[0], 'sendonly');
        if (this.wanted.microphone && of('audio').length > 0) this.take('microphone', of('audio')[0], 'sendrecv');
    }

    take(kind, transceiver, direction) {
        transceiver.direction = direction;
        this.sendBy(kind, transceiver.sender);
    }

    // `sender`: an RTCRtpSender, or an object with its replaceTrack().
    sendBy(kind, sender) {
        this.senders.set(kind, sender);
    }

    openCamera(request) {
        return this.open('camera', { video: cameraConstraints(request) });
    }

    openMicrophone() {
        return this.open('microphone', { audio: true });
    }

    async open(kind, constraints) {
        const sender = this.senders.get(kind);
        if (!sender) return;
        try {
            const [track] = (await navigator.mediaDevices.getUserMedia(constraints)).getTracks();
            this.close(kind);
            if (this.closed) {
                track.stop();
                return;
            }
            this.tracks.set(kind, track);
            await sender.replaceTrack(track);
        } catch (error) {
            this.onRefused(kind, error);
        }
    }

    close(kind) {
        this.tracks.get(kind)?.stop();
        this.tracks.delete(kind);
        this.senders.get(kind)?.replaceTrack(null).catch(() => {});
    }

    closeAll() {
        this.closed = true;
        for (const kind of [...this.tracks.keys()]) this.close(kind);
    }
}
