// This device's motion sensors, sent while the guest listens to them.
const interval = 16;  // ms between two events of one sensor

export class Sensors {
    // `send(type, data)` writes to the control channel.
    constructor(send) {
        this.send = send;
        this.active = new Set();
        this.last = new Map();
        this.onMotion = (event) => this.motion(event);
        this.onOrientation = (event) => this.orientation(event);
    }

    activate(type) {
        if (this.active.size === 0) {
            window.addEventListener('devicemotion', this.onMotion);
            window.addEventListener('deviceorientation', this.onOrientation);
        }
        this.active.add(type);
    }

    deactivate(type) {
        this.active.delete(type);
        if (this.active.size === 0) this.close();
    }

    close() {
        this.active.clear();
        window.removeEventListener('devicemotion', this.onMotion);
        window.removeEventListener('deviceorientation', this.onOrientation);
    }

    motion({ accelerationIncludingGravity: force, rotationRate: rate }) {
        if (force) this.event('acceleration', { x: force.x, y: force.y, z: force.z });
        if (rate) this.event('gyroscope', { x: rate.beta, y: rate.gamma, z: rate.alpha });  // degrees a second
    }

    orientation({ alpha, beta, gamma }) {
        this.event('orientation', { roll: gamma, pitch: beta, azimuth: alpha });
    }

    event(sensor, values) {
        const now = performance.now();
        if (!this.active.has(sensor) || now - (this.last.get(sensor) ?? -interval) < interval) return;
        this.last.set(sensor, now);
        this.send('sensor:event', { sensor, ...values });
    }
}
