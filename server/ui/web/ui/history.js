// The figures of the last hour: loaded once, then what is new every ten seconds while the tab is shown. No event tells of a sample.
import { get } from '../api.js';
import { useCallback, useEffect, useRef, useState } from '../html.js';

const pause = 10000;  // milliseconds between two requests
const isColumn = (value) => Array.isArray(value) && (value.length === 0 || typeof value[0] !== 'object' || value[0] === null);

// Appends columns to columns; `most` values stay.
function joined(before, next, most) {
    if (isColumn(before) && isColumn(next)) return [...before, ...next].slice(-most);
    if (typeof next !== 'object' || next === null || Array.isArray(next)) return next;
    return Object.fromEntries(Object.entries(next).map(([name, value]) => [name, name in before ? joined(before[name], value, most) : value]));
}

const address = (query, since) => `/1.0/metrics/history?${new URLSearchParams({ ...query, ...(since ? { since } : {}) })}`;

// { history, error, reload }. `query`: `node` or `nodes` of the request, the same at each call.
export function useHistory(query = {}) {
    const [state, setState] = useState({});
    const known = useRef(null);
    const load = useCallback(async () => {
        try {
            const next = await get(address(query, known.current?.times.at(-1)));
            known.current = known.current ? joined(known.current, next, next.kept / next.interval) : next;
            setState({ history: known.current });
        } catch (error) {
            setState((former) => ({ ...former, error }));
        }
    }, [JSON.stringify(query)]);
    useEffect(() => {
        known.current = null;
        const shown = () => document.hidden || load();
        shown();
        const timer = setInterval(shown, pause);
        document.addEventListener('visibilitychange', shown);
        return () => {
            clearInterval(timer);
            document.removeEventListener('visibilitychange', shown);
        };
    }, [load]);
    return { ...state, reload: load };
}
