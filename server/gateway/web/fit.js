// The size of the instance's screen for a box of the page, and one that follows an element.
const sharpest = 1.5;  // pixels of the guest for one of the page: more are too small to read in most guests
const longest = 1920;  // pixels of the guest
const unscaledDensity = 160;
const settled = 300;  // ms without a change

// What is drawn has the size that it would have on this page.
export function screenFor({ width, height }) {
    const even = (value) => Math.max(2, Math.round(value / 2) * 2);
    const scale = Math.min(window.devicePixelRatio || 1, sharpest, longest / Math.max(width, height));
    return { width: even(width * scale), height: even(height * scale), density: Math.max(72, Math.round(unscaledDensity * scale)) };
}

export class Fit {
    // `choose(box)`: the screen for the element's present size; nothing: it stays. `resize(screen)` is told when the element
    // has another size than at first and keeps it for a moment.
    constructor(element, choose, resize) {
        Object.assign(this, { element, choose, resize });
        this.last = this.boxText();
        this.observer = new ResizeObserver(() => this.changed());
        this.observer.observe(element);
    }

    close() {
        this.observer.disconnect();
        clearTimeout(this.timer);
    }

    box() {
        const { clientWidth: width, clientHeight: height } = this.element;
        return { width, height };
    }

    boxText() {
        return JSON.stringify(this.box());
    }

    changed() {
        clearTimeout(this.timer);
        if (this.boxText() !== this.last) this.timer = setTimeout(() => this.apply(), settled);
    }

    apply() {
        const box = this.box();
        if (!box.width || !box.height) return;
        this.last = this.boxText();
        const screen = this.choose(box);
        if (screen) this.resize(screen);
    }
}
