// Plays the samples that it is sent, on the browser's thread for sound. Ends with any message that has none.
import { JitterBuffer } from './jitter_buffer.js';

class Playout extends AudioWorkletProcessor {
    constructor() {
        super();
        const buffer = new JitterBuffer();
        this.buffer = buffer;
        this.port.onmessage = ({ data }) => (data ? buffer.write(data.time, data.channels) : this.stop());
    }

    stop() {
        this.stopped = true;
        this.port.close();
    }

    process(_, [output]) {
        this.buffer.read(output);
        return !this.stopped;
    }
}

registerProcessor('svc-playout', Playout);
