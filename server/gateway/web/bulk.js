// Large contents in a data channel: a message says what comes, its bytes follow. The sender stays a little ahead of what the
// other side has acknowledged, so nothing grows with the content.
const piece = 16 * 1024;        // bytes of a message
const readAtOnce = 256 * 1024;  // bytes of a blob
const ahead = 1024 * 1024;      // bytes
const heldInMemory = 8 * 1024 * 1024;  // bytes; what is more goes into a blob, which browsers keep elsewhere

// Sends blobs, one at a time. `acknowledge(bytes)`: of the present blob, so many have arrived.
export class BulkSender {
    constructor(channel) {
        this.channel = channel;
        channel.addEventListener('close', () => this.wake?.());
    }

    acknowledge(bytes) {
        this.acknowledged = bytes;
        this.onProgress?.(bytes);
        this.wake?.();
    }

    // Resolves when all is on its way: false where the channel was closed or `signal` aborted.
    async send(blob, { signal, onProgress } = {}) {
        Object.assign(this, { acknowledged: 0, onProgress });
        signal?.addEventListener('abort', () => this.wake?.(), { once: true });
        const goesOn = () => this.channel.readyState === 'open' && !signal?.aborted;
        for (let at = 0; at < blob.size; at += readAtOnce) {
            const bytes = await blob.slice(at, at + readAtOnce).arrayBuffer();
            while (goesOn() && at - this.acknowledged > ahead) await new Promise((resolve) => { this.wake = resolve; });
            if (!goesOn()) return false;
            for (let begin = 0; begin < bytes.byteLength; begin += piece) this.channel.send(bytes.slice(begin, begin + piece));
        }
        return true;
    }
}

// Collects the bytes of one content. `add(bytes)` returns the blob when it is complete.
export class BulkReceiver {
    constructor(size, type) {
        Object.assign(this, { size, type, received: 0, parts: [], loose: 0 });
    }

    add(bytes) {
        this.received += bytes.byteLength;
        this.loose += bytes.byteLength;
        this.parts.push(bytes);
        if (this.loose >= heldInMemory) {
            this.parts = [this.blob()];
            this.loose = 0;
        }
        return this.received >= this.size ? this.blob() : undefined;
    }

    blob() {
        return new Blob(this.parts, { type: this.type });
    }
}
