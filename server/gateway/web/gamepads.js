// This device's gamepads, sent while its client steers: what has changed since the last frame. Browsers show a gamepad after a
// button of it was pressed, in a page that has the focus.
const most = 4;                     // gamepads of the instance
const buttons = 17, sticks = 4;     // of the "standard gamepad"
const triggers = { 6: 4, 7: 5 };    // button -> axis of the instance, which rests at -1
const steps = 127;                  // of an axis each way: what a stick trembles by is less

const rounded = (value) => Math.round(Math.max(-1, Math.min(1, value)) * steps) / steps || 0;

// What the instance is to have of a gamepad: "button 0" -> pressed, "axis 4" -> value.
function stateOf(pad) {
    const state = new Map();
    pad.buttons.slice(0, buttons).forEach(({ pressed, value }, index) => {
        state.set(`button ${index}`, pressed);
        if (index in triggers) state.set(`axis ${triggers[index]}`, rounded(value * 2 - 1));
    });
    pad.axes.slice(0, sticks).forEach((value, index) => state.set(`axis ${index}`, rounded(value)));
    return state;
}

function restOf(name) {
    if (name.startsWith('button')) return false;
    return Object.values(triggers).includes(Number(name.slice(5))) ? -1 : 0;
}

export class Gamepads {
    // `send(type, data)`: "gamepad-button", "gamepad-axes".
    constructor(send) {
        this.send = send;
        this.sent = Array.from({ length: most }, () => new Map());
        this.onConnected = () => this.follow();
        window.addEventListener('gamepadconnected', this.onConnected);
        this.follow();
    }

    present() {
        return [...(navigator.getGamepads?.() ?? [])].slice(0, most).filter((pad) => pad?.connected && pad.mapping === 'standard');
    }

    // Frame by frame, as long as there is one.
    follow() {
        cancelAnimationFrame(this.frame);
        const pads = this.present();
        for (let id = 0; id < most; ++id) this.tell(id, pads.find(({ index }) => index === id));
        if (pads.length > 0) this.frame = requestAnimationFrame(() => this.follow());
    }

    // One that has gone is let go of.
    tell(id, pad) {
        const sent = this.sent[id], state = pad ? stateOf(pad) : new Map([...sent.keys()].map((name) => [name, restOf(name)]));
        for (const [name, value] of state) {
            if (value === (sent.get(name) ?? restOf(name))) continue;
            const [kind, index] = [name.split(' ')[0], Number(name.split(' ')[1])];
            if (kind === 'button') this.send('gamepad-button', { id, index, pressed: value });
            else this.send('gamepad-axes', { id, index, value });
            sent.set(name, value);
        }
    }

    close() {
        window.removeEventListener('gamepadconnected', this.onConnected);
        cancelAnimationFrame(this.frame);
        for (let id = 0; id < most; ++id) this.tell(id);
    }
}
