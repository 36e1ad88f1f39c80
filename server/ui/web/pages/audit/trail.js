// The audit events, on a socket of their own: those that the service keeps, then each that comes.
import { useEffect, useRef, useState } from '../../html.js';
import { socket } from '../../api.js';

const most = 10_000;  // events that are kept here
const together = 250;  // milliseconds: many events at once are one change of the page

// Calls `onEvents(array)`, `onState(here)`. Returns what ends it.
function follow(onEvents, onState) {
    let open = null, last = 0, waiting = [], timer = null, again = null, ended = false;
    const tell = () => {
        timer = null;
        onEvents(waiting);
        waiting = [];
    };
    const connect = () => {
        open = socket(`/1.0/events?type=audit&since=${last}`);
        open.onopen = () => onState(true);
        open.onmessage = ({ data }) => {
            const event = JSON.parse(data);
            if (event.sequence !== undefined) last = event.sequence;
            waiting.push(event);
            timer ??= setTimeout(tell, together);
        };
        open.onclose = () => {
            if (ended) return;
            onState(false);
            again = setTimeout(connect, 2000);
        };
    };
    connect();
    return () => {
        ended = true;
        clearTimeout(timer);
        clearTimeout(again);
        open.close();
    };
}

// { events: newest first, here: whether it is connected, held: how many wait while `paused` }.
export function useTrail(paused) {
    const [events, setEvents] = useState([]);
    const [here, setHere] = useState(false);
    const [held, setHeld] = useState([]);
    const still = useRef(paused);
    still.current = paused;
    const add = (more) => (former) => [...more.slice().reverse(), ...former].slice(0, most);
    useEffect(() => follow((more) => (still.current ? setHeld : setEvents)(add(more)), setHere), []);
    useEffect(() => {
        if (paused || held.length === 0) return;
        setEvents((former) => [...held, ...former].slice(0, most));
        setHeld([]);
    }, [paused, held]);
    return { events, here, held: held.length };
}
