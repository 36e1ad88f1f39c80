// The buffer between the arrival of sound and its playing: what is played when, and how much waits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JitterBuffer, excess, least, most, rate } from '../../server/gateway/web/jitter_buffer.js';

const packet = 960, quantum = 128;  // samples: 20 ms, and what a worklet plays at a time

// A sender and a player with a clock of their own: `write(count)` packets, `play(count)` quanta.
class Rehearsal {
    constructor() {
        this.buffer = new JitterBuffer();
        this.time = 0;
        this.value = 0;
    }

    write(count = 1) {
        for (let number = 0; number < count; ++number) {
            const left = Float32Array.from({ length: packet }, () => ++this.value), right = left.map((value) => -value);
            this.buffer.write(this.time, [left, right]);
            this.time += 20000;
        }
    }

    play(count = 1) {
        const sides = [new Float32Array(count * quantum), new Float32Array(count * quantum)];
        for (let at = 0; at < count * quantum; at += quantum) this.buffer.read(sides.map((side) => side.subarray(at, at + quantum)));
        return sides;
    }

    // Both go on at the same time, the player's clock by `drift` faster.
    run(seconds, drift = 0) {
        let due = 0;
        const levels = [];
        for (let played = 0; played < seconds * rate; played += quantum) {
            for (due += quantum / (1 + drift); due >= packet; due -= packet) this.write();
            this.play();
            levels.push(this.buffer.level);
        }
        return levels;
    }
}

test('nothing is played before there is enough, then every sample in its order, on its side', () => {
    const rehearsal = new Rehearsal();
    rehearsal.write(2);
    assert.deepEqual(new Set(rehearsal.play()[0]), new Set([0]));
    rehearsal.write();
    const [left, right] = rehearsal.play(7);
    left.forEach((value, at) => assert.ok(Math.abs(value - (at + 1)) < 1, `${value} is sample ${at}`));
    assert.deepEqual(right, left.map((value) => -value));
});

test('sound of one channel is played on both sides', () => {
    const { buffer } = new Rehearsal();
    buffer.write(0, [new Float32Array(least).fill(1)]);
    const outputs = [new Float32Array(quantum), new Float32Array(quantum)];
    buffer.read(outputs);
    assert.deepEqual(outputs.map((output) => output[5]), [1, 1]);
});

test('what comes all at once is skipped but for the newest', () => {
    const rehearsal = new Rehearsal();
    rehearsal.write(3);
    rehearsal.play();
    rehearsal.write(100);
    assert.ok(rehearsal.buffer.level <= least + excess);
    rehearsal.write();
    const [[first]] = rehearsal.play();
    assert.ok(rehearsal.value - first <= least + excess + 1);
});

test('clocks that differ neither fill the buffer nor empty it', () => {
    for (const drift of [0.002, -0.002]) {
        const rehearsal = new Rehearsal();
        const levels = rehearsal.run(120, drift).slice(20 * rate / quantum);
        assert.ok(Math.min(...levels) > 0, `never empty at ${drift}`);
        assert.ok(Math.max(...levels) < least + excess, `never full at ${drift}`);
        assert.equal(rehearsal.buffer.target, least);
    }
});

test('a network that is late makes more sound wait, up to a limit, and less after a calm time', () => {
    const rehearsal = new Rehearsal();
    for (let number = 0; number < 20; ++number) {
        rehearsal.write(8);
        rehearsal.play(100);  // until there is nothing, and longer
    }
    assert.equal(rehearsal.buffer.target, most);
    rehearsal.run(200);
    assert.equal(rehearsal.buffer.target, least);
});

test('silence of the guest is no lateness', () => {
    const rehearsal = new Rehearsal();
    for (let number = 0; number < 20; ++number) {
        rehearsal.write(4);
        rehearsal.play(100);
        rehearsal.time += 400000;
    }
    assert.equal(rehearsal.buffer.target, least);
});

test('after silence the sound begins with what came first', () => {
    const rehearsal = new Rehearsal();
    rehearsal.write(3);
    rehearsal.play(100);
    rehearsal.time += 400000;
    rehearsal.write(3);
    const [[first]] = rehearsal.play();
    assert.equal(first, 3 * packet + 1);
});
