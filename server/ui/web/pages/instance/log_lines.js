// The newest lines of a log, in bounded memory.
const longest = 2000;  // characters of a line that are shown
const colours = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
const unprintable = /[\x00-\x08\x0b-\x1f\x7f]/g;

// What a terminal would do to a line is left out.
function clean(line) {
    const text = line.replace(colours, '').replace(unprintable, '');
    return text.length > longest ? `${text.slice(0, longest)} … [${text.length - longest} characters more]` : text;
}

export class LogLines {
    constructor(most) {
        this.most = most;
        this.lines = [];    // { number, text }
        this.dropped = 0;
        this.rest = '';
        this.next = 1;
    }

    add(text) {
        const parts = (this.rest + text).split('\n');
        this.rest = parts.pop().slice(0, 4 * longest);  // a line without an end takes no memory for ever
        for (const part of parts) this.lines.push({ number: this.next++, text: clean(part) });
        const over = this.lines.length - this.most;
        if (over > 0) {
            this.lines.splice(0, over);
            this.dropped += over;
        }
    }

    // With the last line, which has no end yet.
    shown(wanted) {
        const all = this.rest ? [...this.lines, { number: this.next, text: clean(this.rest) }] : this.lines;
        const text = wanted.toLowerCase();
        return text ? all.filter((line) => line.text.toLowerCase().includes(text)) : all;
    }
}
