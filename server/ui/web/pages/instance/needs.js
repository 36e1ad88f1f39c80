// What a tab shows of an instance that does not run.
import { html } from '../../html.js';
import { shellWord } from '../../ui/format.js';
import { Empty } from '../../ui/elements.js';

export const isUp = ({ status, paused, pooled }) => (status === 'running' || status === 'started') && !paused && !pooled;

// `children` where the instance is up; else what to do first.
export function NeedsRunning({ record, what, children }) {
    if (isUp(record)) return children;
    if (record.pooled) return html`<${Empty} title="${what} of an instance that runs">This one waits in the pool of its application until a launch takes it.<//>`;
    const verb = record.paused ? 'resume' : 'start';
    return html`<${Empty} title="${what} of an instance that runs">
        This one is ${record.paused ? 'paused' : record.status}. ${verb === 'start' ? 'Start' : 'Resume'} it with the button above, or with <code>svcctl ${verb} ${shellWord(record.id)}</code>.
    <//>`;
}
