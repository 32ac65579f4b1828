/** `netctl services`: which addresses of services are served, with which backends, and why others are not. */
import type {
  ServiceAddressSummary,
  ServiceDocument,
  ServiceSummary,
} from '#documents/services.ts';
import { hostAndPort } from '#models/ip.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  type CommandInput,
  ExitCode,
  type NodeReply,
  type Table,
  type TableRow,
} from '../command.ts';
import { failureRows, failuresOf, isForPeople, noteRow, shortList } from '../failures.ts';
import { askIfKnown, askRoute } from '../requests/missing.ts';

export const services: Command = {
  name: 'services',
  summary: 'List services and their backends, or explain one',
  arguments: [
    {
      name: 'node',
      description: 'node to ask; default: all',
      isOptional: true,
      completes: 'nodes',
    },
    { name: 'name', description: 'service as namespace/name', isOptional: true },
  ],
  options: [
    { name: 'problems', description: 'only services that are not carried as they are defined' },
  ],
  examples: ['services', 'services --problems', 'services shop/web', 'services node1 shop/web'],
  async run(context, input) {
    const { node, name } = selectionOf(input);
    const nodes = await context.nodes(node);
    if (name !== undefined) return await explain(context, nodes, name);
    return await list(context, nodes, input.options['problems'] === true);
  },
};

/** A name has a slash, which the name of a node cannot have. */
function selectionOf({ arguments: given }: CommandInput): {
  readonly node: readonly string[] | undefined;
  readonly name: string | undefined;
} {
  const [first] = given['node'] ?? [];
  const [second] = given['name'] ?? [];
  if (second !== undefined)
    return { node: first === undefined ? undefined : [first], name: fullName(second) };
  if (first?.includes('/')) return { node: undefined, name: first };
  return { node: first === undefined ? undefined : [first], name: undefined };
}

function fullName(name: string): string {
  return name.includes('/') ? name : `default/${name}`;
}

// ---- all services

/** A service as the nodes see it. */
interface ServiceRow {
  readonly name: string;
  /** Of the first node that has answered. */
  readonly addresses: readonly AddressRow[];
  readonly whyNotRendered: string;
  /** Carriers, with the nodes where they have it. */
  readonly carriers: Map<string, string[]>;
  /** Problems, with the nodes that report them. */
  readonly problems: Map<string, string[]>;
  /** Nodes that know it. */
  readonly nodes: string[];
}

interface AddressRow {
  readonly text: string;
  readonly kind: string;
  readonly used: number;
  readonly unused: number;
  readonly whyNotRendered: string;
  /** Clients that may use it; empty: all. */
  readonly restriction: string;
}

/** The part of a reply that is kept: it may have megabytes. */
interface Summary {
  readonly name: string;
  readonly addresses: readonly AddressRow[];
  readonly whyNotRendered: string;
  readonly carriers: readonly string[];
  readonly problems: readonly string[];
}

async function list(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  onlyProblems: boolean,
): Promise<ExitCode> {
  const { ServiceList } = await import('#documents/services.ts');
  const replies = await context.askAll(nodes, async (node) =>
    (await askRoute(context, node, 'contiv/v1/services', ServiceList)).map(summaryOf),
  );
  const rows = merged(replies).filter(({ problems }) => !onlyProblems || problems.size > 0);
  const answered = replies.filter(({ failure }) => failure === undefined).length;
  if (answered > 0 && rows.length === 0 && isForPeople(context)) {
    context.output.text(
      onlyProblems
        ? 'All services are carried as they are defined.'
        : 'No node knows a service. Services come from the API server by contiv-ksr: check it if kubectl lists some.',
    );
  } else
    context.output.list(listTable(rows, answered, replies), {
      services: rows.map(({ carriers, problems, ...row }) => ({
        ...row,
        carriers: Object.fromEntries(carriers),
        problems: Object.fromEntries(problems),
      })),
      failures: failuresOf(replies),
    });
  return context.explainFailures(replies);
}

function summaryOf(service: ServiceSummary): Summary {
  const values = service.values.filter(({ state }) => state !== 'CONFIGURED');
  return {
    name: service.name,
    whyNotRendered: service.whyNotRendered ?? '',
    addresses: service.addresses.map(addressRow),
    carriers: carriersOf(service.values.filter(({ state }) => state === 'CONFIGURED')),
    problems: [
      ...service.problems,
      ...values.map(({ key, error, state }) => `${placeOf(key)}: ${error || state}`),
    ],
  };
}

/** Prefix of keys: translations of addresses of IPv6. */
const CNAT = 'config/vpp/nat/v2/cnat-translation/';

/** Of the value with this key. */
function placeOf(key: string): string {
  return isAtSocket(key) ? 'at the socket' : 'in VPP';
}

function carriersOf(values: readonly { readonly key: string }[]): string[] {
  return values.map(({ key }) => {
    if (isAtSocket(key)) return 'sockets';
    return key.startsWith(CNAT) ? 'cnat' : 'NAT44';
  });
}

function isAtSocket(key: string): boolean {
  return key.startsWith('config/linux/');
}

function addressRow(address: ServiceAddressSummary): AddressRow {
  return {
    text: addressText(address),
    kind: address.kind,
    used: address.backends.length,
    unused: address.unusedBackends,
    whyNotRendered: address.whyNotRendered ?? '',
    restriction: restrictionOf(address),
  };
}

/** Empty: the address is for everyone. */
function restrictionOf({ sourceRanges }: Pick<ServiceAddressSummary, 'sourceRanges'>): string {
  if (sourceRanges === undefined) return '';
  return sourceRanges.length === 0 ? 'for no client' : `for ${shortList(sourceRanges)} only`;
}

function addressText(one: Pick<ServiceAddressSummary, 'address' | 'port' | 'protocol'>): string {
  return `${hostAndPort(one)}/${one.protocol.toLowerCase()}`;
}

function merged(replies: readonly NodeReply<readonly Summary[]>[]): readonly ServiceRow[] {
  const rows = new Map<string, ServiceRow>();
  for (const { node, value } of replies) {
    for (const { name, addresses, whyNotRendered, carriers, problems } of value ?? []) {
      const row: ServiceRow = rows.get(name) ?? {
        name,
        addresses,
        whyNotRendered,
        carriers: new Map(),
        problems: new Map(),
        nodes: [],
      };
      rows.set(name, row);
      row.nodes.push(node.name);
      for (const carrier of carriers) addNode(row.carriers, carrier, node.name);
      for (const problem of problems) addNode(row.problems, problem, node.name);
    }
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function addNode(nodes: Map<string, string[]>, text: string, node: string): void {
  nodes.set(text, [...(nodes.get(text) ?? []), node]);
}

function listTable(
  rows: readonly ServiceRow[],
  answered: number,
  replies: readonly NodeReply<unknown>[],
): Table {
  return {
    columns: [
      { title: 'SERVICE', whenNarrow: 'keep' },
      { title: 'ADDRESS', whenNarrow: 'keep' },
      { title: 'KIND', isWide: true },
      { title: 'BACKENDS', isRightAligned: true, whenNarrow: 'keep' },
      { title: 'CARRIED-BY' },
      { title: 'STATE' },
    ],
    rows: [...rows.flatMap((row) => rowsOf(row, answered)), ...failureRows(replies)],
  };
}

function rowsOf(row: ServiceRow, answered: number): TableRow[] {
  const { name, addresses, whyNotRendered } = row;
  const texts = problemTexts(row, answered);
  if (addresses.length === 0)
    return [
      {
        cells: [name, '', '', '', ''],
        note: texts.join('; ') || whyNotRendered,
        ...colorOf(texts),
      },
    ];
  return addresses.map((address, at) => {
    const own = address.whyNotRendered === '' ? [] : [`not served: ${address.whyNotRendered}`];
    const none = own.length === 0 && address.used === 0 ? ['no backend'] : [];
    const state = [...(at === 0 ? texts : []), ...own, ...none];
    const total = address.used + address.unused;
    const count = total === address.used ? String(total) : `${address.used} of ${total}`;
    return {
      cells: [
        at === 0 ? name : '',
        address.text,
        address.kind,
        count,
        at === 0 ? carrierText(row, answered) : '',
        state.join('; ') || ['served', address.restriction].filter(Boolean).join(' '),
      ],
      ...colorOf(state),
    };
  });
}

function carrierText({ carriers }: ServiceRow, answered: number): string {
  return [...carriers]
    .map(([carrier, of]) => (of.length === answered ? carrier : `${carrier} on ${shortList(of)}`))
    .join(', ');
}

function problemTexts({ problems, nodes }: ServiceRow, answered: number): string[] {
  const texts = [...problems].map(([text, of]) =>
    of.length === answered ? text : `${shortList(of)}: ${text}`,
  );
  return nodes.length < answered ? [...texts, `known to ${shortList(nodes)} only`] : texts;
}

function colorOf(problems: readonly string[]): Pick<TableRow, 'color'> {
  return problems.length > 0 ? { color: 'yellow' } : {};
}

// ---- one service

async function explain(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  name: string,
): Promise<ExitCode> {
  const path = `contiv/v1/services/${name.split('/').map(encodeURIComponent).join('/')}`;
  const { ServiceDocument } = await import('#documents/services.ts');
  const replies = await context.askAll(nodes, (node) =>
    askIfKnown(context, node, path, ServiceDocument),
  );
  const known = replies.filter(({ value }) => value !== undefined);
  const answered = replies.filter(({ failure }) => failure === undefined).length;
  if (known.length === 0 && answered > 0 && isForPeople(context))
    context.output.text(
      `No node that answered knows service ${name}. netctl services lists those that are known; ` +
        'if kubectl shows it, check contiv-ksr and the readiness of etcd.',
    );
  else
    context.output.list(detailTable(replies), {
      service: name,
      nodes: replies.flatMap(({ node, value, failure }) =>
        failure === undefined ? [{ name: node.name, service: value ?? null }] : [],
      ),
      failures: failuresOf(replies),
    });
  const code = context.explainFailures(replies);
  return known.length === 0 && code === ExitCode.Success ? ExitCode.Negative : code;
}

function detailTable(replies: readonly NodeReply<ServiceDocument | undefined>[]): Table {
  return {
    columns: [
      { title: 'NODE', whenNarrow: 'keep' },
      { title: 'ADDRESS', whenNarrow: 'keep' },
      { title: 'BACKEND', whenNarrow: 'keep' },
      { title: 'POD' },
      { title: 'STATE' },
    ],
    rows: replies.flatMap(({ node, value, failure }): TableRow[] => {
      if (failure !== undefined) return [noteRow(node, failure.text)];
      if (value === undefined) return [noteRow(node, 'does not know the service')];
      return detailRows(node.name, value);
    }),
  };
}

function detailRows(node: string, service: ServiceDocument): TableRow[] {
  const rows: TableRow[] = [];
  const add = (cells: readonly string[], note?: string): void =>
    void rows.push({
      cells: [rows.length === 0 ? node : '', ...cells],
      ...(note !== undefined && { note, color: 'yellow' }),
    });
  if (service.whyNotRendered) add([], `not served: ${service.whyNotRendered}`);
  for (const problem of service.problems) add([], problem);
  for (const { key, state, error, actual } of service.values)
    if (state !== 'CONFIGURED') add([], `${placeOf(key)}: ${error || state}`);
    else if (actual === null)
      add([], `${placeOf(key)}: missing; netctl plan shows what a resync would do`);
  for (const address of service.addresses) {
    const text = addressText(address);
    const { whyNotRendered, backends } = address;
    if (whyNotRendered) add([text], `not served: ${whyNotRendered}`);
    else if (backends.length === 0) add([text], 'no backend');
    const restriction = restrictionOf(address);
    for (const [at, backend] of backends.entries()) {
      const place = backend.isLocal ? 'used, on this node' : 'used';
      const use = at === 0 && restriction !== '' ? `${place}, ${restriction}` : place;
      add([
        at === 0 ? text : '',
        hostAndPort(backend),
        backend.pod,
        backend.whyNotUsed ? `not used: ${backend.whyNotUsed}` : use,
      ]);
    }
  }
  const carriers = carriersOf(service.values.filter(({ actual }) => actual !== null));
  if (carriers.length > 0) add(['', '', '', `carried by ${carriers.join(', ')}`]);
  const { healthCheck } = service;
  if (healthCheck?.error) add([], `health check is not served: ${healthCheck.error}`);
  if (healthCheck?.byKubeProxy)
    add([], `health check on port ${healthCheck.port} is left to kube-proxy`);
  if (rows.length === 0) add([], 'has no address');
  return rows;
}
