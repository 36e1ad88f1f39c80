// Where a package is dropped, or chosen with a button.
import { html, useRef, useState } from '../../html.js';
import { bytes, count } from '../../ui/format.js';
import { chosenFolder } from '../../ui/folders.js';
import { dropped, totalOf } from './choose.js';

const described = (chosen) => `${chosen.name} (${chosen.files ? `${count(chosen.files.length, 'file')}, ` : ''}${bytes(totalOf(chosen))})`;

// `folders`: also a folder, which is packed here. `accept`: endings of archives. `onChosen(chosen)`, `onProblem(error)`.
export function DropZone({ chosen, folders, accept, onChosen, onProblem }) {
    const [over, setOver] = useState(false);
    const archive = useRef(), folder = useRef();
    const drop = (event) => {
        event.preventDefault();
        setOver(false);
        dropped(event.dataTransfer).then(onChosen, onProblem);
    };
    const drag = (event) => {
        event.preventDefault();
        setOver(true);
    };
    const pick = (take) => ({ target }) => {
        if (target.files.length > 0) onChosen(take(target.files));
        target.value = '';
    };
    return html`<div class="drop-zone ${over ? 'over' : ''}" onDragOver=${drag} onDragLeave=${() => setOver(false)} onDrop=${drop}>
        <p aria-live="polite">${chosen ? described(chosen) : folders ? 'Drop a folder or an archive here' : 'Drop an archive here'}</p>
        <div class="actions">
            ${folders && html`<button type="button" onClick=${() => folder.current.click()}>Choose a folder</button>`}
            <button type="button" onClick=${() => archive.current.click()}>Choose an archive</button>
        </div>
        <small>${accept.join(', ')}</small>
        <input type="file" hidden ref=${archive} accept=${accept.join(',')} aria-label="Archive" onChange=${pick(([file]) => ({ name: file.name, file }))} />
        ${folders && html`<input type="file" hidden ref=${folder} webkitdirectory aria-label="Folder" onChange=${pick(chosenFolder)} />`}
    </div>`;
}
