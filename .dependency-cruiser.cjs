/**
 * The import table of docs/architecture.md as rules. A folder may import what its row
 * allows and nothing else of this project; import cycles are errors.
 */
const southbound = [
  'src/documents',
  'src/kvscheduler/api/check-field.ts',
  'src/kvscheduler/api/define-descriptor.ts',
  'src/kvscheduler/api/descriptor.ts',
  'src/kvscheduler/api/transaction.ts',
  'plugins/controller/api/ports',
  'src/models',
  'src/infra',
];

const table = {
  'src/documents': [],
  'src/infra': ['src/documents'],
  'src/models': ['src/infra/errors'],
  'src/kubernetes': ['src/models', 'src/infra/errors', 'src/infra/clock/steps.ts'],
  'src/kvscheduler': ['src/documents', 'src/infra'],
  'src/vpp/binapi': ['src/infra'],
  'src/vpp': [...southbound],
  'src/linux': [...southbound],
  'src/stn/daemon': ['src/linux', 'src/models', 'src/infra'],
  'src/stn': ['plugins/controller/api/ports', 'src/models', 'src/infra'],
  'src/init': [
    'src/stn',
    'src/datastore',
    'src/kubernetes',
    'src/models',
    'src/infra',
    'plugins/controller/api/ports',
    'plugins/[^/]+/api.ts',
  ],
  'src/simulator': [
    'src/vpp/binapi',
    'src/linux/api.ts',
    'src/linux/socket-services/api.ts',
    'src/linux/socket-flows/api.ts',
    'src/packet-trace',
    'plugins/controller/api/ports',
    'src/models',
    'src/infra',
  ],
  'src/demonstration': [
    'src/simulator',
    'src/linux/socket-flows/api.ts',
    'src/packet-trace',
    'src/kubernetes',
    'src/datastore',
    'src/models',
    'src/infra',
    'plugins/[^/]+/api.ts',
  ],
  'src/packet-trace': ['src/models'],
  'src/flows': [
    'src/documents',
    'src/linux/socket-flows/api.ts',
    'src/kubernetes/resources',
    'src/kubernetes/models',
    'src/models',
    'src/infra',
    'plugins/controller/api',
    'plugins/[^/]+/api.ts',
  ],
  ui: ['src/documents'],
  'src/datastore': ['src/infra'],
  'src/ksr': ['src/kubernetes', 'src/datastore', 'src/models', 'src/infra'],
  'src/netctl': [
    'src/documents',
    'src/ksr/api-server',
    'src/kubernetes',
    'src/datastore',
    'src/packet-trace',
    'plugins/[^/]+/api.ts',
    'src/models',
    'src/infra',
  ],
  'src/compatibility': [
    'src/kvscheduler/scheduler.ts',
    'src/kvscheduler/rest/values.ts',
    'src/vpp/descriptors',
    'src/vpp/binapi',
    'src/linux/api.ts',
    'plugins/controller/api/ports',
    'src/models',
    'src/infra',
  ],
  'plugins/controller/api': [
    'src/documents',
    'src/kvscheduler/api/transaction.ts',
    'src/models',
    'src/infra/clock',
    'src/infra/collections',
    'src/infra/errors',
    'src/infra/log',
  ],
  'plugins/controller': [
    'src/documents',
    'src/kvscheduler/api/transaction.ts',
    'src/kubernetes/resources',
    'src/kubernetes/models',
    'src/models',
    'src/datastore/api.ts',
    'src/infra',
    'plugins/[^/]+/api.ts',
  ],
};

const plugin = [
  'src/documents',
  'plugins/controller/api',
  'plugins/[^/]+/api.ts',
  'src/kvscheduler/api/transaction.ts',
  'src/kubernetes/resources',
  'src/kubernetes/models',
  'src/models',
  'src/datastore/api.ts',
  'src/datastore/disk-store.ts',
  'src/infra',
];

const otherPrograms = [
  'src/infra',
  'src/datastore',
  'src/models',
  'src/kubernetes',
  'src/ksr',
  'src/netctl',
  'src/stn',
  'src/init',
  'src/packet-trace',
  'plugins/controller/api',
  'plugins/[^/]+/api.ts',
];

/** Paths of the table as one regular expression; each folder may import itself. */
const anyOf = (paths) => `^(${paths.join('|')})(/|$)`;

/** A folder with a row of its own inside a folder with a row. */
const inner = {
  'src/vpp': 'src/vpp/binapi',
  'src/stn': 'src/stn/daemon',
  'plugins/controller': 'plugins/controller/api',
};

const folders = Object.entries(table).map(([folder, allowed]) => ({
  name: `folder ${folder}`,
  severity: 'error',
  from: {
    path: `^${folder}/`,
    ...(inner[folder] && { pathNot: `^${inner[folder]}/` }),
  },
  to: { path: '^(src|plugins)/', pathNot: anyOf([folder, ...allowed]) },
}));

module.exports = {
  forbidden: [
    ...folders,
    {
      name: 'plugins',
      comment: 'a plugin sees the language of plugins, models and the api.ts of others',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/', pathNot: '^plugins/controller/' },
      to: { path: '^(src|plugins)/', pathNot: anyOf(['plugins/$1', ...plugin]) },
    },
    {
      name: 'other programs',
      severity: 'error',
      from: { path: '^src/cmd/([^/]+)/', pathNot: '^src/cmd/agent/' },
      to: { path: '^(src|plugins)/', pathNot: anyOf(['src/cmd/$1', ...otherPrograms]) },
    },
    {
      name: 'client library of Kubernetes',
      comment: 'its import takes half a second and tens of megabytes',
      severity: 'error',
      from: { path: '^(src|plugins)/', pathNot: '^src/ksr/api-server/' },
      to: { path: 'node_modules/@kubernetes/client-node' },
    },
    {
      name: 'types of documents only',
      comment: 'the page has no use for the schemas, which are large',
      severity: 'error',
      from: { path: '^ui/' },
      to: { path: '^src/documents', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'nothing unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no tests',
      severity: 'error',
      from: { path: '^(src|plugins)' },
      to: { path: '^(test|bench|scripts)' },
    },
    {
      name: 'no development packages',
      severity: 'error',
      from: { path: '^(src|plugins)' },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    doNotFollow: { path: 'node_modules' },
  },
};
