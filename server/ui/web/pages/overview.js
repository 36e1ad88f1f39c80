// The fleet at a glance: what there is, how it has been for an hour, what fails.
import { html } from '../html.js';
import { list } from '../api.js';
import { Failure, Page, Spinner } from '../ui/elements.js';
import { useHistory } from '../ui/history.js';
import { useLoaded, useReloadOn } from '../ui/loaded.js';
import { useOperations } from '../operations.js';
import { useCounts } from './overview/counts.js';
import { FirstSteps, useBeginnings } from './overview/first_steps.js';
import { Graphs } from './overview/graphs.js';
import { NewestFailures, NewestOperations, SlowestNodes } from './overview/tables.js';
import { Tiles } from './overview/tiles.js';

export default function Overview({ me }) {
    const { history, error, reload } = useHistory();
    const { counts } = useCounts();
    const nodes = useLoaded((signal) => list('/1.0/nodes', { signal }));
    const { operations } = useOperations();
    const beginnings = useBeginnings();
    useReloadOn('logging', nodes.reload, ({ metadata }) => /node|manager/.test(metadata.message));
    useReloadOn('operation', nodes.reload, ({ metadata }) => metadata.resources?.nodes !== undefined);
    if (error && !history) return html`<${Page} title="Overview"><${Failure} error=${error} again=${reload} /><//>`;
    if (!history || !counts || !nodes.value) return html`<${Page} title="Overview"><${Spinner} /><//>`;
    return html`<${Page} title="Overview">
        <${FirstSteps} me=${me} beginnings=${beginnings} instances=${counts.all} />
        <${Tiles} counts=${counts} nodes=${nodes.value} operations=${operations} history=${history} />
        <${Graphs} history=${history} />
        <div class="wide-grid">
            <${SlowestNodes} nodes=${history.slowest_nodes} />
            <${NewestFailures} failed=${counts.error} />
        </div>
        <${NewestOperations} operations=${operations} me=${me} />
    <//>`;
}
