// Who watches a stream, and who steers it: a line and tools beside the others.
import { byId, show } from './page.js';

function inWords(others, steers) {
    const people = others === 1 ? '1 other' : `${others} others`;
    return steers ? `${people} watching` : `You watch, with ${people}`;
}

export class AudienceView {
    // `stream()`: the present one, or nothing.
    constructor(stream) {
        const on = (id, name, handler) => byId(id).addEventListener(name, handler);
        on('take-control', 'click', () => stream()?.takeControl());
        on('watch-only', 'click', () => stream()?.releaseControl());
        on('give-control', 'change', ({ target }) => {
            stream()?.giveControl(Number(target.value));
            target.value = '';
        });
        this.hide();
    }

    hide() {
        for (const id of ['audience', 'take-control', 'watch-only', 'give-control']) show(byId(id), false);
    }

    // Alone and in control, nobody has to be told of it.
    show({ you, steers, clients }) {
        const others = clients.filter(({ number }) => number !== you);
        const text = others.length ? inWords(others.length, steers) : 'You watch';
        byId('audience').textContent = text;
        show(byId('audience'), others.length > 0 || !steers);
        show(byId('take-control'), !steers);
        show(byId('watch-only'), steers && others.length > 0);
        show(byId('give-control'), steers && others.length > 0);
        byId('give-control').replaceChildren(new Option('Give control …', ''),
            ...others.map(({ number }) => new Option(`to client ${number}`, String(number))));
    }
}
