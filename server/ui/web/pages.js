// The pages: where they are in the address, what they are called, and their modules, loaded when they are opened.
export const pages = [
    { name: 'overview', title: 'Overview', load: () => import('./pages/overview.js') },
    { name: 'instances', title: 'Instances', load: () => import('./pages/instances.js') },
    { name: 'applications', title: 'Applications', load: () => import('./pages/applications.js') },
    { name: 'images', title: 'Images', load: () => import('./pages/images.js') },
    { name: 'addons', title: 'Addons', load: () => import('./pages/addons.js') },
    { name: 'nodes', title: 'Nodes', load: () => import('./pages/nodes.js') },
    { name: 'operations', title: 'Operations', load: () => import('./pages/operations.js') },
    { name: 'events', title: 'Events', load: () => import('./pages/events.js') },
    { name: 'configuration', title: 'Configuration', load: () => import('./pages/configuration.js') },
    { name: 'trust', title: 'Trust', load: () => import('./pages/trust.js') },
    { name: 'audit', title: 'Audit', load: () => import('./pages/audit.js'), role: 'admin' },
    { name: 'streams', title: 'Streams', load: () => import('./pages/streams.js') },
];
