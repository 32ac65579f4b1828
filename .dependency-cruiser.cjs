/**
 * The import table of docs/architecture.md as rules. A folder (a room) may import what its row
 * allows, and nothing else of ours; nobody imports in circles.
 */
const table = {
  'src/infra': [],
  'src/eventloop': ['src/infra/clock', 'src/infra/errors', 'src/infra/log'],
  'src/models': ['src/infra/errors'],
  'src/resources': ['src/models'],
  'src/reflect': ['src/models', 'src/resources', 'src/infra/errors'],
  'src/kvscheduler': ['src/eventloop', 'src/infra'],
  'src/nodeview': ['src/models'],
  'src/southbound/vpp/binapi': ['src/infra'],
  'src/southbound/vpp': [
    'src/kvscheduler/api.ts',
    'src/eventloop/transaction.ts',
    'src/nodeview',
    'src/models',
    'src/infra',
  ],
  'src/southbound/linux': [
    'src/kvscheduler/api.ts',
    'src/eventloop/transaction.ts',
    'src/nodeview',
    'src/models',
    'src/infra',
  ],
  'src/southbound/stn': ['src/nodeview', 'src/models', 'src/infra'],
  'src/sim': [
    'src/southbound/vpp/binapi',
    'src/southbound/linux/api.ts',
    'src/models',
    'src/infra',
  ],
  'src/walker': ['src/models'],
  'src/datastore': ['src/infra'],
  'plugins/controller': [
    'src/eventloop',
    'src/resources',
    'src/models',
    'src/datastore/api.ts',
    'src/infra',
    'plugins/[^/]+/api.ts',
  ],
  'plugins/dbwatcher': [
    'src/eventloop',
    'src/resources',
    'src/models',
    'src/datastore/api.ts',
    'src/infra',
    'plugins/[^/]+/api.ts',
  ],
};

const plugin = [
  'src/eventloop',
  'src/models',
  'src/resources',
  'src/nodeview',
  'src/datastore/api.ts',
  'src/infra',
  'plugins/[^/]+/api.ts',
];

const otherPrograms = [
  'src/infra',
  'src/datastore',
  'src/models',
  'src/resources',
  'src/reflect',
  'src/walker',
  'plugins/[^/]+/api.ts',
];

/** Paths of the table as one regular expression; each room may always import itself. */
const anyOf = (paths) => `^(${paths.join('|')})(/|$)`;

const rooms = Object.entries(table).map(([room, allowed]) => ({
  name: `room ${room}`,
  severity: 'error',
  from: {
    path: `^${room}/`,
    ...(room === 'src/southbound/vpp' && { pathNot: '^src/southbound/vpp/binapi/' }),
  },
  to: { path: '^(src|plugins)/', pathNot: anyOf([room, ...allowed]) },
}));

module.exports = {
  forbidden: [
    ...rooms,
    {
      name: 'plugins',
      comment: 'a plugin sees the language of plugins, models and the api.ts of others',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/', pathNot: '^plugins/(controller|dbwatcher)/' },
      to: { path: '^(src|plugins)/', pathNot: anyOf(['plugins/$1', ...plugin]) },
    },
    {
      name: 'other programs',
      severity: 'error',
      from: { path: '^src/programs/([^/]+)/', pathNot: '^src/programs/agent/' },
      to: { path: '^(src|plugins)/', pathNot: anyOf(['src/programs/$1', ...otherPrograms]) },
    },
    {
      name: 'no circles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
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
      extensions: ['.ts', '.js', '.json'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    doNotFollow: { path: 'node_modules' },
  },
};
