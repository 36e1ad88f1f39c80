// Many instances, quickly: requests over the local socket, some at a time, that end when the launch is accepted.
import { request } from 'node:http';

export function call(socketPath, method, path, body) {
    return new Promise((resolve, reject) => {
        const sent = request({ socketPath, method, path, headers: { 'Content-Type': 'application/json' } }, (answer) => {
            const parts = [];
            answer.on('data', (part) => parts.push(part)).on('error', reject).on('end', () => {
                const reply = JSON.parse(Buffer.concat(parts));
                return reply.error ? reject(new Error(`${method} ${path}: ${reply.error}`)) : resolve(reply);
            });
        });
        sent.on('error', reject).end(body && JSON.stringify(body));
    });
}

const small = { instance_type: 'a2.3', cpu: 1, memory: '32MB', disk_size: '64MB' };

// `bodyOf(number)`: of the launches 1 to `count`.
export async function launchMany(socketPath, count, bodyOf, atOnce = 16) {
    let next = 1;
    const worker = async () => {
        while (next <= count) await call(socketPath, 'POST', '/1.0/instances?no_wait=true', { ...small, ...bodyOf(next++) });
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
}
