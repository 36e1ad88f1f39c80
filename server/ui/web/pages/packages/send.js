// Sends a package and waits for its operation. XMLHttpRequest, because fetch does not tell how much has been sent.
import { away, envelope, finish, remove } from '../../api.js';
import { credentials } from '../../credentials.js';

// The fields of an upload, as its header: a header has ASCII alone.
export const requestHeader = (fields) => ({ 'X-SVC-Request': JSON.stringify(fields).replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`) });

function send(method, path, body, headers, { onProgress, signal }) {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open(method, path);
        for (const [name, value] of Object.entries({ 'Content-Type': 'application/octet-stream', ...credentials(), ...headers })) request.setRequestHeader(name, value);
        request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
        request.onerror = () => reject(away());
        request.onabort = () => reject(new DOMException('The upload was cancelled', 'AbortError'));
        request.onload = () => {
            try {
                resolve(envelope(request.status, request.responseText));
            } catch (error) {
                reject(error);
            }
        };
        signal.addEventListener('abort', () => request.abort());
        signal.throwIfAborted();
        request.send(body);
    });
}

// The operation when it has ended. `onSent(loaded, total)`, `onOperation(operation)`. An abort cancels the operation.
export async function sendPackage({ method, path, headers }, body, { onSent, onOperation, signal }) {
    const { metadata } = await send(method, path, body, headers, { onProgress: onSent, signal });
    try {
        return await finish(metadata, { onProgress: onOperation, signal });
    } catch (error) {
        if (signal.aborted) await remove(`/1.0/operations/${metadata.id}`);
        throw error;
    }
}
