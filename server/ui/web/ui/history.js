// The figures of the last hour: loaded once, then what is new every ten seconds while the tab is shown. No event tells of a sample.
import { get } from '../api.js';
import { useEffect, useMemo, useState } from '../html.js';

const pause = 10000;  // milliseconds between two requests
const isColumn = (value) => Array.isArray(value) && (value.length === 0 || typeof value[0] !== 'object' || value[0] === null);

// Appends columns to columns; `most` values stay.
function joined(before, next, most) {
    if (isColumn(before) && isColumn(next)) return [...before, ...next].slice(-most);
    if (typeof next !== 'object' || next === null || Array.isArray(next)) return next;
    return Object.fromEntries(Object.entries(next).map(([name, value]) => [name, name in before ? joined(before[name], value, most) : value]));
}

const address = (query, since) => `/1.0/metrics/history?${new URLSearchParams({ ...query, ...(since ? { since } : {}) })}`;

// The figures as they come, one request at a time: of two, the later one could append the same samples again.
class Feed {
    constructor(query, show) {
        Object.assign(this, { query, show, known: null, busy: false, ended: false });
    }

    async load() {
        if (this.busy) return;
        this.busy = true;
        try {
            const next = await get(address(this.query, this.known?.times.at(-1)));
            this.known = this.known ? joined(this.known, next, next.kept / next.interval) : next;
            this.tell({ history: this.known });
        } catch (error) {
            this.tell({ history: this.known ?? undefined, error });
        }
        this.busy = false;
    }

    tell(state) {
        if (!this.ended) this.show({ ...state, of: this });
    }

    end() {
        this.ended = true;
    }
}

// { history, error, reload }. `query`: `node` or `nodes` of the request, the same at each call.
export function useHistory(query = {}) {
    const [state, setState] = useState({});
    const feed = useMemo(() => new Feed(query, setState), [JSON.stringify(query)]);
    useEffect(() => {
        const shown = () => document.hidden || feed.load();
        shown();
        const timer = setInterval(shown, pause);
        document.addEventListener('visibilitychange', shown);
        return () => {
            clearInterval(timer);
            document.removeEventListener('visibilitychange', shown);
            feed.end();
        };
    }, [feed]);
    const { history, error } = state.of === feed ? state : {};
    return { history, error, reload: () => feed.load() };
}
