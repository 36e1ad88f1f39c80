// Sound between its arrival and its playing: samples of two channels in the order in which they came. Playing begins when there is enough for a network
// that is uneven, and goes a little faster or slower than the samples came, because the clocks of two machines differ.
export const rate = 48000;
const millisecond = rate / 1000;  // samples, as all that follows

export const least = 60 * millisecond, most = 160 * millisecond;  // what waits, by how uneven the network is
export const excess = 100 * millisecond;                          // with more than that too much, the oldest is skipped
const more = 20 * millisecond;
const calm = 30 * rate;         // played without running dry, until less has to wait
const size = rate;
const sameSound = 40 * 1000;    // microseconds between two packets; with more the guest was silent
const fastest = 0.005;          // difference of speed, which nobody hears
const correction = 4 * rate;    // a difference of what waits is made up in about four seconds
const smoothing = 0.01;

// Into a ring, at `place`.
function keep(ring, place, samples) {
    const end = Math.min(samples.length, size - place);
    ring.set(samples.subarray(0, end), place);
    ring.set(samples.subarray(end), 0);
}

export class JitterBuffer {
    constructor() {
        this.channels = [new Float32Array(size), new Float32Array(size)];
        this.written = 0;
        this.position = 0;  // of the next sample that is played, with a fraction
        this.target = least;
        this.playing = false;
        this.played = 0;  // since it ran dry
    }

    get level() {
        return this.written - this.position;
    }

    // `time`: of the first sample, in microseconds.
    write(time, channels) {
        const count = channels[0].length;
        if (this.dry && time - this.end < sameSound) this.wait(more);
        this.dry = false;
        this.end = time + count * 1000 / millisecond;
        this.channels.forEach((ring, side) => keep(ring, this.written % size, channels[side] ?? channels[0]));
        this.written += count;
        if (this.level > this.target + excess) this.position = this.written - this.target;
    }

    wait(difference) {
        this.target = Math.min(most, Math.max(least, this.target + difference));
        this.played = 0;
    }

    // Fills `outputs`, arrays of zeros; what is not there stays silent.
    read(outputs) {
        if (!this.playing && this.level < this.target) return;
        if (!this.playing) this.average = this.level;
        this.playing = true;
        const step = this.step(), count = outputs[0].length;
        const there = Math.min(count, Math.max(0, Math.floor((this.level - 2) / step) + 1));
        outputs.forEach((output, side) => this.play(this.channels[side], output, there, step));
        if (there < count) return this.runDry();
        this.position += count * step;
        this.played += count;
        if (this.played > calm) this.wait(-more);
    }

    // Between two samples it takes what lies on the line from one to the other.
    play(ring, output, count, step) {
        const begin = Math.floor(this.position), start = begin % size;
        for (let at = 0; at < count; ++at) {
            const place = this.position - begin + at * step, first = Math.floor(place), part = place - first;
            output[at] = ring[(start + first) % size] * (1 - part) + ring[(start + first + 1) % size] * part;
        }
    }

    // A little faster or slower, so that as much waits as shall.
    step() {
        this.average += (this.level - this.average) * smoothing;
        return 1 + Math.max(-fastest, Math.min(fastest, (this.average - this.target) / correction));
    }

    runDry() {
        this.position = this.written;
        this.playing = false;
        this.dry = true;
    }
}
