// Instances: all of them, the launch of one, or one of them.
import { html, useEffect, useRef, useState } from '../html.js';
import { Failure, Spinner } from '../ui/elements.js';

const modules = {
    list: () => import('./instances/list.js'),
    launch: () => import('./instances/launch.js'),
    one: () => import('./instance.js'),
};
const wantedOf = (part) => (!part ? 'list' : part === 'launch' ? 'launch' : 'one');

export default function Instances({ me, place }) {
    const wanted = wantedOf(place.parts[1]);
    const [state, setState] = useState({}), visits = useRef(0);
    useEffect(() => {
        if (state.View && visits.current++) document.querySelector('main h1')?.focus();
    }, [state.View]);
    useEffect(() => {
        let current = true;
        modules[wanted]().then(({ default: View }) => current && setState({ wanted, View }), (error) => current && setState({ wanted, error }));
        return () => { current = false; };
    }, [wanted]);
    if (state.wanted !== wanted) return html`<${Spinner} />`;
    return state.error ? html`<${Failure} error=${state.error} />` : html`<${state.View} key=${wanted} me=${me} place=${place} />`;
}
