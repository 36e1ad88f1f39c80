const stateOfUp = ({ paused, pooled }) => (paused ? 'paused' : pooled ? 'pooled' : 'running');
// `pooled`: it waits for a launch of its application.
export const stateOf = (record) => (record.status === 'running' ? stateOfUp(record) : record.status);

// What is kept of an instance's record: only what lists show.
export const rowOf = (record) => ({
    id: record.id, name: record.name, status: stateOf(record), type: record.type, node: record.node,
    app: record.app_id, appName: record.app_name ?? '', appVersion: record.app_version, image: record.image_id, imageVersion: record.image_version,
    created: record.created_at, address: record.address, publicAddress: record.public_address, services: record.services, tags: record.tags ?? [],
    error: record.error_message, platform: record.config?.platform, protected: record.config?.security?.delete_protected === true,
    cpus: record.resources?.cpus, memory: record.resources?.memory, disk: record.resources?.['disk-size'], gpus: record.resources?.['gpu-slots'],
});
