// The launch of one instance or of several, with the commands that do the same.
import { html, useCallback, useState } from '../../html.js';
import { list, post } from '../../api.js';
import { href } from '../../router.js';
import { CopyButton, Empty, Failure, Page, Spinner } from '../../ui/elements.js';
import { count } from '../../ui/format.js';
import { useLoaded, useReloadOn } from '../../ui/loaded.js';
import { attempt } from '../../ui/notice.js';
import { beginRun, useRun } from '../../ui/run.js';
import { RunProgress } from '../../ui/run_progress.js';
import { curlOf, svcctlOf } from './launch_commands.js';
import { Placement, Resources, Settings, Source, UserData } from './launch_fields.js';
import { bodyOf, emptyForm, fieldOfError, nameOf, problemsOf } from './launch_form.js';
import { Services } from './launch_services.js';

const streams = (form) => ['webrtc', 'swrast'].includes(form.platform) && /\bstreaming\b/.test(form.userData);
const mostLinked = 30;

// Links to what was launched; to its stream where it has one.
const launchedBy = (form) => ({ results }) => html`<ul class="launched" aria-label="Launched instances">${[...results].sort((left, right) => left.item.number - right.item.number).slice(0, mostLinked).map(({ item, id }) => html`
    <li key=${id}><a href=${href('instances', id)}>${item.name || id}</a>${streams(form) && html` (<a href=${href('instances', id, 'screen')}>stream</a>)`}</li>`)}
    ${results.length > mostLinked && html`<li>and ${(results.length - mostLinked).toLocaleString()} more</li>`}</ul>`;

function launch(form) {
    const items = Array.from({ length: Number(form.count) }, (_, index) => {
        const name = nameOf(form, index + 1);
        return { number: index + 1, name, label: name || `Number ${index + 1}`, begin: () => post('/1.0/instances', bodyOf(form, index + 1)) };
    });
    return beginRun(`Launching ${count(items.length, 'instance')}`, items, { cancels: true, Results: launchedBy(form) });
}

function Command({ title, text, hint }) {
    return html`<div class="command"><div class="command-head"><h3>${title}</h3><${CopyButton} text=${text} label="Copy" /></div>
        <pre tabindex="0" aria-label=${title}>${text}</pre>${hint && html`<p class="hint">${hint}</p>`}</div>`;
}

const concerns = ({ metadata: { status_code: code, resources } }) => code >= 200 && ['applications', 'images', 'addons', 'nodes'].some((kind) => resources?.[kind]);

// What a launch can choose from.
function useChoices() {
    const load = useCallback(async (signal) => {
        const [applications, images, nodes, addons] = await Promise.all(['applications', 'images', 'nodes', 'addons'].map((kind) => list(`/1.0/${kind}`, { signal })));
        return { applications, images, nodes, addons };
    }, []);
    const loaded = useLoaded(load);
    useReloadOn('operation', loaded.reload, concerns);
    return loaded;
}

// The form as the address wants it: #/instances/launch?application=ID&version=NUMBER, or ?image=ID.
function startOf(query, { applications, images }) {
    const image = query.get('image') ?? (applications.length === 0 && images.find((one) => one.default)?.id);
    const [kind, wanted, records] = image ? ['image', image, images] : ['application', query.get('application') ?? (applications.length === 1 ? applications[0].id : ''), applications];
    const found = records.find(({ id, name }) => id === wanted || name === wanted);
    return { ...emptyForm, kind, source: found?.id ?? '', sourceName: found?.name ?? '', version: (found && query.get('version')) ?? '' };
}

function Form({ choices, query }) {
    const [form, setForm] = useState(() => startOf(query, choices));
    const [told, setTold] = useState(false), [own, setOwn] = useState(null);
    const run = useRun(), busy = run && !run.ended;
    const set = (values) => {
        setForm((former) => ({ ...former, ...values }));
        setOwn(null);
    };
    const hints = problemsOf(form), refused = run && run === own ? fieldOfError(run.failures[0]?.message) : {};
    const problems = { ...refused, ...(told ? hints : {}) };
    const submit = (event) => {
        event.preventDefault();
        setTold(true);
        const [first] = Object.keys(hints);
        if (first) return event.target.elements[first]?.focus();
        return attempt(async () => setOwn(launch(form)));
    };
    const part = { form, set, problems }, { applications, images, nodes, addons } = choices;
    return html`<div class="launch">
        <form class="launch-form" id="launch-form" noValidate onSubmit=${submit}><${Source} ...${part} applications=${applications} images=${images} /><${Placement} ...${part} nodes=${nodes} /><${Resources} ...${part} /><${Services} ...${part} /><${Settings} ...${part} addons=${addons} /><${UserData} ...${part} /></form>
        <div class="launch-side">
            <button class="primary" form="launch-form" disabled=${busy}>Launch ${Number(form.count) > 1 ? count(Number(form.count), 'instance') : ''}</button>
            <${RunProgress} run=${run} />
            <div class="card stack"><h2>The same as a command</h2>
                <${Command} title="svcctl" text=${svcctlOf(form)} />
                <${Command} title="curl" text=${curlOf(form, location.origin)} hint="In the folder of svcctl's own certificate, ~/.config/svcctl. --cacert FILE instead of --insecure where the service's certificate is known." /></div>
        </div></div>`;
}

export default function Launch({ me, place }) {
    const { value: choices, error, reload } = useChoices();
    const back = html`<a class="button" href=${href('instances')}>All instances</a>`;
    return html`<${Page} title="Launch instances" actions=${back}>
        ${error ? html`<${Failure} error=${error} again=${reload} />` : !choices ? html`<${Spinner} />`
            : !me.may('operator') ? html`<${Failure} error=${{ message: 'Only operators and admins launch instances.' }} />`
                : choices.images.length === 0 ? html`<${Empty} title="There is nothing to launch from yet">${me.may('admin') ? html`<a class="button" href=${href('images')}>Add an image</a> On the command line: <code>svcctl image add NAME FILE</code>` : 'An admin adds an image first.'}<//>`
                    : html`<${Form} choices=${choices} query=${place.query} />`}
    <//>`;
}
