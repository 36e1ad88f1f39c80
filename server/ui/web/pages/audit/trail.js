// The audit events, on a socket of their own: those that the service keeps, then each that comes.
import { useEffect, useRef, useState } from '../../html.js';
import { followKept } from '../../kept_events.js';

const most = 10_000;  // events that are kept here

// { events: newest first, here: whether it is connected, held: how many wait while `paused` }.
export function useTrail(paused) {
    const [events, setEvents] = useState([]);
    const [here, setHere] = useState(false);
    const [held, setHeld] = useState([]);
    const still = useRef(paused);
    still.current = paused;
    const add = (more) => (former) => [...more.slice().reverse(), ...former].slice(0, most);
    useEffect(() => followKept('audit', (more) => (still.current ? setHeld : setEvents)(add(more)), setHere), []);
    useEffect(() => {
        if (paused || held.length === 0) return;
        setEvents((former) => [...held, ...former].slice(0, most));
        setHeld([]);
    }, [paused, held]);
    return { events, here, held: held.length };
}
